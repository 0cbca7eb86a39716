//! What making a dataset costs beside writing the same number of bytes.
//!
//! ```text
//! cargo bench -p stowplan-dataset --bench generator
//! ```
//!
//! Rounds of both, in turn, in this directory's file system, each with an empty page cache for
//! its file and a sync at its end; judged by the median of the ratios within rounds, because the
//! speed of a shared disk drifts. Prints also what the generator alone does per second.
#![expect(clippy::print_stdout, reason = "a program whose result is its output")]

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::thread::available_parallelism;
use std::time::Instant;
use stowplan_dataset::{Generator, materialise};
use stowplan_model::{Content, DatasetSpec, SizeDistribution};

const BYTES: u64 = 1_000_000_000;
const VALUE_BYTES: u64 = 10_000;
const ROUNDS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let spec = DatasetSpec {
        count: BYTES / VALUE_BYTES,
        size: SizeDistribution::Fixed { bytes: VALUE_BYTES },
        content: Content::Random,
        seed: 1,
        from: None,
    };
    let generator = Generator::new(&spec)?;
    let mut value = vec![0; usize::try_from(VALUE_BYTES)?];
    let fill = seconds(|| {
        for key in 1..=spec.count {
            generator.fill(key, 0, &mut value);
            black_box(&mut value);
        }
        Ok(())
    })?;
    let last = spec.count;
    let compare = seconds(|| {
        for _ in 0..spec.count {
            if !generator.matches(black_box(last), 0, &value) {
                return Err("a value does not match itself".into());
            }
        }
        Ok(())
    })?;
    println!("generate, one thread, in cache: {:.2} GB/s", 1.0 / fill);
    println!("compare,  one thread, in cache: {:.2} GB/s", 1.0 / compare);

    let threads = available_parallelism()?.get();
    let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR"))?;
    let (mut made, mut plain) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let mut make = || -> Result<(), Box<dyn Error>> {
            let path = directory.path().join("dataset");
            made.push(seconds(|| {
                materialise(&spec, &path, threads, &|_| ())?;
                Ok(())
            })?);
            Ok(std::fs::remove_dir_all(path)?)
        };
        let mut write = || -> Result<(), Box<dyn Error>> {
            let path = directory.path().join("plain");
            plain.push(seconds(|| plain_write(&path))?);
            Ok(std::fs::remove_file(path)?)
        };
        if round % 2 == 0 {
            make()?;
            write()?;
        } else {
            write()?;
            make()?;
        }
    }
    let ratios = made.iter().zip(&plain).map(|(made, plain)| made / plain);
    println!(
        "make and write a dataset of 1 GB, {threads} threads, synced: {:.2} s; \
         plain write of as many bytes, synced: {:.2} s; median ratio {:.2} (time, lower is better)",
        median(made.iter().copied()),
        median(plain.iter().copied()),
        median(ratios)
    );
    Ok(())
}

/// The same bytes over and over: what the file system and the disk take at most.
fn plain_write(path: &Path) -> Result<(), Box<dyn Error>> {
    let chunk = vec![7; 1 << 20];
    let mut file = File::create_new(path)?;
    let mut left = usize::try_from(BYTES)?;
    while left > 0 {
        let length = left.min(chunk.len());
        file.write_all(&chunk[..length])?;
        left -= length;
    }
    Ok(file.sync_data()?)
}

fn seconds(run: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    run()?;
    Ok(start.elapsed().as_secs_f64())
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
