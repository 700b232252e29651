// `npm run test:packed`: installs the tarballs into empty projects, with nothing but the registry, and does what README promises.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packAll } from '../pack.mjs'
import { lintTarballs } from './lint.mjs'
import { makeProject, weigh } from './project.mjs'
import { hear, missingParts, runPrograms, runReadme, say } from './promises.mjs'
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
process.stdout.write(`${failures === 0 ? 'All of it works' : `${failures} failed`}, in ${seconds(began)}\n`)
process.exitCode = failures === 0 ? 0 : 1

async function main() {
  const packed = packAll({ out: join(work, 'packed') })
  for (const { name, bytes, unpackedBytes } of packed)
    process.stdout.write(`  ${name.padEnd(26)} ${mb(bytes)} packed, ${mb(unpackedBytes)} unpacked\n`)
  const file = name => packed.find(one => one.name === name)?.file ?? assert.fail(`${name} was not packed`)
  const names = packed.map(({ name }) => name)
  const isDurable = name => name === 'toolpost-durable'
  await Promise.all([
    small(file),
    whole(packed, names, isDurable),
    step('publint and attw', () => lintTarballs(packed)),
  ])
}

/** Toolpost alone. */
async function small(file) {
  const folder = join(work, 'small')
  await step('install toolpost', async () => {
    await makeProject(folder, [file('toolpost'), file('toolpost-common')])
    return bounded(folder, { packages: 60, megabytes: 60 })
  })
  await step('strict types, without the optional packages', () =>
    checkTypes(folder, ['toolpost', 'toolpost-common']),
  )
  await step('parts that are missing', () => missingParts(folder))
}

/** Everything, then what is optional. */
async function whole(packed, names, isDurable) {
  const folder = join(work, 'whole')
  const files = wanted => packed.filter(({ name }) => wanted(name)).map(({ file }) => file)
  await step('install voice-gateway and zwave-mcp-server', async () => {
    await makeProject(
      folder,
      files(name => !isDurable(name)),
    )
    return bounded(folder, { packages: 150, megabytes: 200 })
  })
  await step('voice-gateway hear', () => hear(folder))
  await step('voice-gateway say', () => say(folder))
  await step('toolpost up, as the image runs it', () => upServes(folder))
  await step('serve --stdio, from a real MCP client', () => stdioClient(folder))
  await step('install what is optional', () =>
    makeProject(folder, ['mathjs', ...files(isDurable)]).then(() => ''),
  )
  await step('README', () => runReadme(folder))
  await step('programs', () => runPrograms(folder))
  if (names.some(isDurable)) await step('durable calls, embedded database', () => durableCalls(folder))
}

function bounded(folder, limits) {
  const { packages, megabytes, scripts, names } = weigh(folder)
  const text = `${packages} packages of at most ${limits.packages}, ${megabytes} MB of at most ${limits.megabytes}`
  assert.ok(packages <= limits.packages && megabytes <= limits.megabytes, text)
  assert.deepEqual(scripts, [], 'no package wants to run a script when it is installed')
  assert.deepEqual(
    names.filter(name => /transformers/.test(name)),
    [],
  )
  return text
}

/** A step that fails does not stop the others; what stands on it fails as well, and says so. */
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
