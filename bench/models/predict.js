// Asks ONNX Runtime, with one thread, for the predictions of the models that make.py made.
//   npm install --ignore-scripts onnxruntime-node && node predict.js DIR
const fs = require('fs'), path = require('path')
const ort = require('onnxruntime-node')

async function main(dir) {
  const manifest = JSON.parse(fs.readFileSync(path.join(dir, 'manifest.json')))
  const { points, columns, total } = manifest
  const bytes = (name) => { const b = fs.readFileSync(path.join(dir, name)); return b.buffer.slice(b.byteOffset, b.byteOffset + b.length) }
  const raw = new Float32Array(bytes('raw.f32'))
  const shares = Float64Array.from(new Int32Array(bytes('shares.i32')), (v) => v / total)
  for (const m of manifest.models.filter((m) => m.onnx)) {
    const numbers = m.inputs === 'raw' ? raw : shares
    const out = new Float32Array(points * m.width)
    const session = await ort.InferenceSession.create(path.join(dir, m.file), { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 })
    for (let from = 0; from < points; from += 1000) {
      const rows = Math.min(1000, points - from)
      const part = numbers.slice(from * columns, (from + rows) * columns)
      const X = m.double ? new ort.Tensor('float64', Float64Array.from(part), [rows, columns]) : new ort.Tensor('float32', Float32Array.from(part), [rows, columns])
      const got = await session.run({ X })
      out.set(Float32Array.from(got[m.output].data), from * m.width)
    }
    fs.writeFileSync(path.join(dir, m.name + '.out'), Buffer.from(out.buffer))
  }
}
main(process.argv[2]).catch((e) => { console.error(e); process.exit(1) })
