/** Raw sound (16 kHz, mono, 16 bits, little-endian) as samples. An incomplete last sample is dropped. */
export function readPcm(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const samples = new Float32Array(Math.floor(bytes.length / 2))
  for (let index = 0; index < samples.length; index++)
    samples[index] = view.getInt16(index * 2, true) / 32_768
  return samples
}
