import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Tensor as OnnxTensor } from 'onnxruntime-common'
import { nativeBuild } from '../programs/platform.ts'

type Runtime = Pick<typeof import('onnxruntime-common'), 'InferenceSession' | 'Tensor'>

/** Where ONNX Runtime may be; the first that loads is used. A clone has the second, the published package the others. */
const NATIVE = [`voice-gateway-${nativeBuild}`, 'onnxruntime-node']
/** Works everywhere, but loads in four seconds instead of one and takes twice the memory. */
const WASM = new URL('../../models/wasm/ort.node.min.mjs', import.meta.url)

export const { InferenceSession, Tensor } = await loadRuntime()
export type Tensor = OnnxTensor

async function loadRuntime(): Promise<Runtime> {
  const wanted = process.env.TOOLPOST_ONNX
  const require = createRequire(import.meta.url)
  const problems: string[] = []
  for (const name of wanted === 'wasm' ? [] : NATIVE) {
    try {
      return require(name) as Runtime
    } catch (error) {
      problems.push((error as Error).message.split('\n')[0] ?? '')
    }
  }
  if (existsSync(WASM)) return (await import(WASM.href)) as Runtime
  throw new Error(`ONNX Runtime cannot be loaded; run: npm i ${NATIVE[0]} (${problems.join('; ')})`)
}
