// Files that the voice gateway's package contains instead of depending on their packages: the speech models, and ONNX
// Runtime as WebAssembly for platforms without a native build. The native builds are separate packages, one per platform.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readJson, root } from './packages.mjs'
import { fetchFiles } from './registry-files.mjs'

const installed = (...path) => join(root, 'node_modules', ...path)
const onnxVersion = () => readJson(installed('onnxruntime-common', 'package.json')).version

/** What the code loads, by package and path relative to its main file, which is in `dist/`. */
const models = [
  ['@moonshine-ai/moonshine-js', 'model/tiny/quantized/encoder_model.onnx'],
  ['@moonshine-ai/moonshine-js', 'model/tiny/quantized/decoder_model_merged.onnx'],
  ['@ricky0123/vad-web', 'silero_vad_v6.onnx'],
]
const threaded = 'dist/ort-wasm-simd-threaded'
const wasm = ['dist/ort.node.min.mjs', `${threaded}.mjs`, `${threaded}.wasm`]
const builds = ['darwin-arm64', 'linux-arm64', 'linux-x64', 'win32-arm64', 'win32-x64']

/** Copies them to the package's `models/`. */
export function copyVoiceFiles(folder) {
  const target = join(folder, 'models')
  rmSync(target, { recursive: true, force: true })
  mkdirSync(join(target, 'wasm'), { recursive: true })
  for (const [name, file] of models) cpSync(installed(name, 'dist', file), join(target, name, file))
  const runtime = installed('.cache', 'toolpost-packing', `onnxruntime-web-${onnxVersion()}`)
  fetchFiles('onnxruntime-web', onnxVersion(), wasm, runtime)
  for (const file of wasm) cpSync(join(runtime, file), join(target, 'wasm', file.split('/').at(-1)))
  cpSync(installed('@moonshine-ai/moonshine-js', 'LICENSE'), join(target, 'LICENSE-moonshine'))
  cpSync(join(root, 'scripts/packing/THIRD-PARTY.md'), join(target, 'THIRD-PARTY.md'))
}

/** The platforms with a native build: `{ os, cpu, name }`. */
export const runtimePlatforms = builds.map(build => {
  const [os, cpu] = build.split('-')
  return { os, cpu, name: `voice-gateway-${build}` }
})

/** Writes the package with one platform's native build. */
export function writeRuntime({ os, cpu, name }, folder, { version, license, repository, publishConfig }) {
  const bin = `bin/napi-v6/${os}/${cpu}`
  const runtime = installed('onnxruntime-node')
  // A clone has only its own platform's build.
  if (existsSync(join(runtime, bin))) cpSync(join(runtime, bin), join(folder, bin), { recursive: true })
  else fetchFiles('onnxruntime-node', onnxVersion(), [bin], folder)
  for (const file of readdirSync(join(runtime, 'dist')).filter(name => /\.(js|d\.ts)$/.test(name)))
    cpSync(join(runtime, 'dist', file), join(folder, 'dist', file))
  cpSync(join(root, 'scripts/packing/THIRD-PARTY.md'), join(folder, 'LICENSE'))
  const description = `ONNX Runtime ${onnxVersion()} for ${os} on ${cpu}, as voice-gateway uses it.`
  const use = 'It is installed with `voice-gateway`; nothing is run or downloaded at installation.'
  writeFileSync(join(folder, 'README.md'), `# ${name}\n\n${description} ${use}\n`)
  const manifest = {
    ...{ name, version, description, license, repository, keywords: ['onnx', 'voice-gateway'] },
    ...{ os: [os], cpu: [cpu], ...(os === 'linux' && { libc: ['glibc'] }) },
    ...{ main: 'dist/index.js', types: 'dist/index.d.ts', files: ['bin', 'dist'] },
    dependencies: { 'onnxruntime-common': onnxVersion() },
    publishConfig,
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}
