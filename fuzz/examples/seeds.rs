//! Writes the seeds of every target: `seeds FOLDER < LIST`, where the list names model files, one a
//! line. A target's seeds stand in a folder of its name.

use std::error::Error;
use std::path::Path;
use std::{env, fs, io};

use recast_fuzz::properties::TARGETS;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).ok_or("usage: seeds FOLDER < LIST")?;
    let mut models = Vec::new();
    for path in io::stdin().lines() {
        models.push(fs::read(path?)?);
    }
    for target in &TARGETS {
        let folder = Path::new(&folder).join(target.name);
        fs::create_dir_all(&folder)?;
        for (index, seed) in (target.seeds)(&models).iter().enumerate() {
            fs::write(folder.join(format!("seed-{index}")), seed)?;
        }
    }
    Ok(())
}
