# The formula of Homebrew. A person fills in `sha256`, the checksum of the archive at `url`, and OWNER, the account of the repository.
class OnnxRecast < Formula
  desc "Fold casts, convert opsets and lint casts of ONNX models, exactly"
  homepage "https://github.com/OWNER/onnx-recast"
  url "https://github.com/OWNER/onnx-recast/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    generate_completions_from_executable(bin/"recast", "completions")
    (man1/"recast.1").write Utils.safe_popen_read(bin/"recast", "completions", "man")
  end

  test do
    (testpath/"model.onnxtxt").write <<~ONNX
      <ir_version: 10, opset_import: ["": 21]>
      g () => (float8e4m3fn[1] y) <float[1] w = {500.0}> { y = Cast <to = 17, saturate = 1> (w) }
    ONNX
    assert_match "folded 1 cast", shell_output("#{bin}/recast fold model.onnxtxt -o folded.onnx")
    assert_path_exists testpath/"folded.onnx"
  end
end
