// Tries what README promises, in a project that has only our tarballs.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../packages.mjs'
import { shell } from './project.mjs'

/** The commands in a README, each with its documented output. */
function sessions(file) {
  const blocks = [...readFileSync(file, 'utf8').matchAll(/```console\n([\s\S]*?)```/g)]
  return blocks.flatMap(([, block]) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map(session => session.trimEnd().split('\n'))
      .map(([command, ...printed]) => ({ command, printed: printed.join('\n') })),
  )
}

/** Two at a time: each starts its own home. */
export async function runReadme(folder) {
  const waiting = sessions(join(root, 'README.md'))
  const count = waiting.length
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      assert.equal(await shell(next.command, folder), next.printed, next.command)
  }
  await Promise.all([worker(), worker()])
  return `${count} commands print what README says`
}

/** The programs in the READMEs, unchanged. */
export async function runPrograms(folder) {
  const programs = ['README.md', 'packages/toolpost/README.md'].flatMap(file =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code),
  )
  for (const code of programs) {
    writeFileSync(join(folder, 'program.mjs'), code)
    assert.match(await shell('node program.mjs', folder), /The light in the hall is on/)
  }
  return `${programs.length} programs`
}

/** If an optional package is missing, the command that needs it says what to install. */
export async function missingParts(folder) {
  const told = [
    ['npx toolpost call math_eval expression=1+1', 'npm i mathjs'],
    ['npx toolpost chat hello --model ollama', 'npm i @langchain/core @langchain/ollama'],
    [
      'ANTHROPIC_API_KEY=none npx toolpost chat hello --model anthropic',
      'npm i @langchain/core @langchain/anthropic',
    ],
    [
      'OPENAI_API_KEY=none npx toolpost chat hello --model openai',
      'npm i @langchain/core @langchain/openai@1.5.8',
    ],
    ['npx toolpost tools', 'npm i zwave-mcp-server'],
    ['npx toolpost up --voice', 'npm install voice-gateway'],
    ['npx toolpost doctor', 'npm i libsql'],
    ['npx toolpost init --config kept.json', 'npm i libsql'],
  ]
  for (const [command, advice] of told) {
    const printed = await shell(command, folder)
    const lines = printed.split('\n').filter(line => line.includes(advice))
    assert.equal(lines.length, 1, `'${command}' should say '${advice}' once:\n${printed}`)
  }
  return `${told.length} say what to install`
}

/** The suite, installed from its tarball, with Toolpost's own driver and with one of the user's. */
export async function proof(folder) {
  const own = "export { call, start, stop, supports } from 'toolpost-proof/drivers/toolpost.mjs'"
  writeFileSync(join(folder, 'my-driver.mjs'), own)
  const command = 'npx toolpost-proof run --driver toolpost --driver ./my-driver.mjs --only results'
  const printed = await shell(`${command} && echo good enough`, folder)
  assert.match(printed, /good enough$/)
  return command
}

/** Transcribed freely: the example's own tool is not there. */
const HEARD = /Heard: .*ten minutes/i

export async function hear(folder) {
  const wav = join(root, 'examples/spoken-command/command.wav')
  const command = `npx voice-gateway hear ${wav} --model offline --speaker none`
  assert.match(await shell(command, folder), HEARD)
  assert.match(await shell(command, folder, { TOOLPOST_ONNX: 'wasm' }), HEARD)
  return 'native and WebAssembly'
}

export async function say(folder) {
  const said = await shell(
    'npx voice-gateway say "turn on switch one" --model offline --speaker none',
    folder,
  )
  assert.match(said, /Switch One is on/)
  return said
}
