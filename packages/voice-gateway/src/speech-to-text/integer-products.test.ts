import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Decoder } from './decoder.ts'
import { withIntegerProducts } from './integer-products.ts'
import { modelFile } from './model-session.ts'
import { MODELS } from './models.ts'
import { InferenceSession, Tensor } from './onnx-runtime.ts'
import { encodeField, encodeInteger, fieldsOf } from './protobuf.ts'

const { package: from, folder, shape } = MODELS.tiny
const original = readFileSync(modelFile({ package: from, file: `${folder}/decoder_model_merged.onnx` }))

async function logitsOf(model: Buffer) {
  const session = await InferenceSession.create(model, { logSeverityLevel: 3 })
  const sound = new Tensor(
    'float32',
    Float32Array.from({ length: 20 * 288 }, (_, at) => Math.sin(at)),
    [1, 20, 288],
  )
  const decoder = new Decoder(session, shape, sound)
  const first = await decoder.first()
  const second = await decoder.advance(first, [300, 400], [0, 0])
  await session.release()
  return [...first.rows, ...second.rows].map(({ logits, logSum }) => logits.map(logit => logit - logSum))
}

describe("Moonshine's decoder with integer products", () => {
  it('scores every token as before, with and without a past', async () => {
    const [before, after] = [await logitsOf(original), await logitsOf(withIntegerProducts(original))]
    expect(after).toHaveLength(3)
    after.forEach((row, at) => {
      const furthest = row.reduce(
        (most, score, token) => Math.max(most, Math.abs(score - Number(before[at]?.[token]))),
        0,
      )
      expect(furthest).toBeLessThan(0.5)
      expect(furthest).toBeGreaterThan(0)
    })
  })
})

describe('protobuf messages', () => {
  const message = Buffer.concat([
    ...encodeInteger(1, 300),
    ...encodeField(2, 'text'),
    ...encodeField(16, [...encodeField(1, 'inner'), ...encodeInteger(2, 0)]),
    Buffer.from([0x1d, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8]),
  ])

  it('are taken apart and put together again', () => {
    const fields = [...fieldsOf(message)]
    expect(fields.map(({ number }) => number)).toEqual([1, 2, 16, 3, 4])
    expect(fields[1]?.content.toString()).toBe('text')
    expect([...fieldsOf(fields[2]?.content as Buffer)][0]?.content.toString()).toBe('inner')
    expect(Buffer.concat(fields.map(({ encoded }) => encoded))).toEqual(message)
  })

  it.each([
    ['a length beyond the end', [0x12, 5, 1]],
    ['a number without end', Array(12).fill(0xff)],
    ['a group', [0x0b]],
    ['half a fixed number', [0x0d, 1]],
  ])('are refused with %s', (_, bytes) => {
    expect(() => [...fieldsOf(Buffer.from(bytes))]).toThrow(/protobuf/)
  })
})
