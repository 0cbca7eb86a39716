mod indexed;
mod split;
