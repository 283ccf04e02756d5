use onnx_recast::wire::*;
fn main() {
    for a in std::env::args().skip(1) {
        let i = open(std::path::Path::new(&a)).unwrap();
        match Kept::<raw::ModelProto>::from_bytes(i.bytes.clone()) {
            Ok(mut m) => {
                let v = m.producer_name.clone();
                m.producer_name = v;
                if let Some(g) = m.graph.as_mut() {
                    let n = g.name.clone();
                    g.name = n;
                }
                save(Layout::of(&m), &Target::File("/tmp/out.onnx".into())).unwrap();
                if i.bytes != std::fs::read("/tmp/out.onnx").unwrap() {
                    println!("DIFF {a}");
                }
            }
            Err(e) => println!("{a}: {e}"),
        }
    }
}
