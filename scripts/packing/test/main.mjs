// `npm run test:packed`: installs the tarballs into empty projects, from the registry only, and tries what README promises.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packAll } from '../pack.mjs'
import { checkContents } from './contents.mjs'
import { follow } from './dockerfile.mjs'
import { lint } from './lint.mjs'
import { makeProject, weigh } from './project.mjs'
import { hear, missingParts, proof, runPrograms, runReadme, say } from './promises.mjs'
import { durableCalls, stdioClient, upServes } from './served.mjs'
import { checkTypes } from './types.mjs'

const work = mkdtempSync(join(tmpdir(), 'toolpost-packed-'))
const began = performance.now()
let failures = 0

try {
  await main()
} finally {
  rmSync(work, { recursive: true, force: true })
}
process.stdout.write(`${failures === 0 ? 'All passed' : `${failures} failed`}, in ${seconds(began)}\n`)
process.exitCode = failures === 0 ? 0 : 1

async function main() {
  const packed = packAll({ out: join(work, 'packed') })
  for (const { name, bytes, unpackedBytes } of packed)
    process.stdout.write(`  ${name.padEnd(26)} ${mb(bytes)} packed, ${mb(unpackedBytes)} unpacked\n`)
  const file = name => packed.find(one => one.name === name)?.file ?? assert.fail(`${name} was not packed`)
  await Promise.all([
    small(file),
    voice(packed),
    image(),
    step('contents', () => checkContents(packed, join(work, 'contents'))),
    step('linters', () => lint(packed)),
  ])
}

/** Toolpost alone. */
async function small(file) {
  const folder = join(work, 'small')
  await step('install toolpost', async () => {
    await makeProject(folder, [file('toolpost'), file('toolpost-sentences')])
    return bounded(folder, { packages: 60, megabytes: 60 })
  })
  await step('strict types, without the optional packages', () => checkTypes(folder, ['toolpost']))
  await step('missing packages', () => missingParts(folder))
  await step('toolpost-proof', async () => {
    const needed = ['toolpost', 'toolpost-sentences', 'toolpost-proof'].map(file)
    await makeProject(join(work, 'proof'), needed)
    return proof(join(work, 'proof'))
  })
}

/** The voice gateway, with the example home. */
async function voice(packed) {
  const folder = join(work, 'voice')
  const files = packed
    .filter(({ name }) => !['toolpost-durable', 'toolpost-proof'].includes(name))
    .map(({ file }) => file)
  await step('install voice-gateway and zwave-mcp-server', async () => {
    await makeProject(folder, files)
    return bounded(folder, { packages: 150, megabytes: 200 })
  })
  await step('voice-gateway hear', () => hear(folder))
  await step('voice-gateway say', () => say(folder))
  await step('serve --stdio, from a real MCP client', () => stdioClient(folder))
}

/** Everything, installed as the Dockerfile does: without speech, then with it. */
async function image() {
  const folder = join(work, 'app')
  const packed = join(work, 'packed')
  await step('install, as the image does', async () => {
    mkdirSync(folder)
    await follow('install', { folder, packed })
  })
  await step('toolpost up, as the image runs it', () => upServes(folder))
  await step('durable calls, embedded database', () => durableCalls(folder))
  await step('programs', () => runPrograms(folder))
  await step('install speech, as the image does', () => follow('install-voice', { folder, packed }))
  await step('README', () => runReadme(folder))
}

function bounded(folder, limits) {
  const { packages, megabytes, scripts, names } = weigh(folder)
  const text = `${packages} packages of at most ${limits.packages}, ${megabytes} MB of at most ${limits.megabytes}`
  assert.ok(packages <= limits.packages && megabytes <= limits.megabytes, text)
  assert.deepEqual(scripts, [], 'no package has an install script')
  assert.deepEqual(
    names.filter(name => /transformers/.test(name)),
    [],
  )
  return text
}

/** A failed step does not stop the others; steps that depend on it fail as well. */
async function step(title, action) {
  const from = performance.now()
  try {
    const said = await action()
    process.stdout.write(`✔ ${title} (${seconds(from)})${said ? `: ${said}` : ''}\n`)
  } catch (error) {
    failures++
    process.stdout.write(`✘ ${title} (${seconds(from)})\n${indented(error.stderr || error.message)}\n`)
  }
}

function seconds(from) {
  return `${((performance.now() - from) / 1_000).toFixed(1)} s`
}

function mb(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`.padStart(8)
}

function indented(text) {
  return String(text)
    .split('\n')
    .slice(0, 60)
    .map(line => `    ${line}`)
    .join('\n')
}
