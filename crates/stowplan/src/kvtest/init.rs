//! `stowplan kvtest init`.

use super::InitOptions;
use super::words::broken_off;
use crate::error::{CliError, Exit};
use crate::progress::Steps;
use crate::screen::{counted, say_with_time};
use std::time::Instant;
use stowplan_harness::interrupt::Interrupt;
use stowplan_kvtest::init::{Init, InitSpec, Made};
use stowplan_model::{Content, DatasetSpec, SizeDistribution, format_bytes};

/// Makes a database of random blobs.
pub(crate) fn init(options: &InitOptions) -> Result<Exit, CliError> {
    let began = Instant::now();
    let interrupt =
        Interrupt::on_signals().map_err(CliError::io("watch for Ctrl-C for", &options.database))?;
    let init = Init::check(spec(options)?)?;
    let steps = Steps::new(options.quiet, "blobs");
    let made = init.build(&interrupt, &|done| steps.at(done, options.count));
    steps.finish();
    match made {
        Ok(made) => {
            say_with_time(options.quiet, &summary(options, &made), began.elapsed());
            Ok(Exit::Done)
        }
        Err(error) => broken_off(error.into()),
    }
}

fn spec(options: &InitOptions) -> Result<InitSpec, CliError> {
    Ok(InitSpec {
        database: options.database.clone(),
        dataset: DatasetSpec {
            count: options.count,
            size: sizes(options)?,
            content: Content::Random,
            seed: options.seed,
            from: None,
        },
        page_size: options.pagesize,
    })
}

fn sizes(options: &InitOptions) -> Result<SizeDistribution, CliError> {
    let (size, variance) = (options.size, options.variance);
    if variance > size {
        return Err(CliError::Usage(format!(
            "--variance {variance} is above --size {size}; sizes would be negative"
        )));
    }
    Ok(if variance == 0 {
        SizeDistribution::Fixed { bytes: size }
    } else if options.as_kvtest {
        SizeDistribution::Kvtest { size, variance }
    } else {
        SizeDistribution::Uniform {
            // kvtest makes no empty value either.
            min: (size - variance).max(1),
            max: size.saturating_add(variance),
        }
    })
}

fn summary(options: &InitOptions, made: &Made) -> String {
    let sizes = if made.smallest == made.largest {
        stowplan_report::count(made.largest)
    } else {
        format!(
            "{} to {}",
            stowplan_report::count(made.smallest),
            stowplan_report::count(made.largest)
        )
    };
    format!(
        "{}: {} of {sizes} bytes, {} on disk",
        options.database.display(),
        counted(made.values, "blob", "blobs"),
        format_bytes(made.file_bytes)
    )
}
