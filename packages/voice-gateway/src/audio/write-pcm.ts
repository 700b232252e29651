/** Samples as raw sound: 16 bits, little-endian, clipped. */
export function writePcm(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(samples.length * 2)
  const view = new DataView(bytes.buffer)
  samples.forEach((sample, index) => {
    view.setInt16(index * 2, Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))), true)
  })
  return bytes
}
