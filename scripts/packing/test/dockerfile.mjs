// The Dockerfile as stages with their instructions, so that a test can follow them in plain folders.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../packages.mjs'
import { shell } from './project.mjs'

/** `Map` of stages by name: `{ from, instructions: [[word, text]] }`. */
function stages(text = readFileSync(join(root, 'Dockerfile'), 'utf8')) {
  const found = new Map()
  let current
  for (const [word, rest] of instructions(text)) {
    if (word !== 'FROM') {
      current.instructions.push([word, rest])
      continue
    }
    const [, from, name] = /^(\S+) AS (\S+)$/.exec(rest) ?? assert.fail(`A stage without a name: ${rest}`)
    current = { from, instructions: [] }
    found.set(name, current)
  }
  return found
}

function instructions(text) {
  return text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter(line => line.trim() !== '')
    .map(line => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1).trim()])
}

/** The last instruction of that kind in a stage, or in the stages it is based on. */
function last(name, word, all = stages()) {
  const stage = all.get(name)
  if (!stage) return undefined
  const [, text] = stage.instructions.findLast(([each]) => each === word) ?? []
  return text ?? last(stage.from, word, all)
}

/** The words of an instruction in brackets, with `/app/` replaced by the project's folder. */
export function words(name, word, folder) {
  const text = last(name, word) ?? ''
  assert.match(text, /\[.*\]$/, `${word} of ${name} is a list, so that no shell wraps Node`)
  return JSON.parse(text.slice(text.indexOf('['))).map(each => each.replaceAll('/app/', `${folder}/`))
}

/** Runs a stage's commands in `folder`, which stands for `/app`; `packed` stands for `/packed`. */
export async function follow(name, { folder, packed }) {
  const commands = stages()
    .get(name)
    .instructions.filter(([word]) => word === 'RUN')
    .map(([, command]) => command.replaceAll('/packed/', `${packed}/`))
  for (const command of commands) {
    const printed = await shell(`${command} || echo FAILED`, folder)
    assert.doesNotMatch(printed, /FAILED$/, printed)
  }
}

/** Checks both images: not root, a volume, a health check, Node itself as the process. */
export function checkImages() {
  for (const name of ['toolpost', 'voice']) {
    assert.equal(last(name, 'USER'), 'node', `${name} does not run as root`)
    assert.equal(last(name, 'VOLUME'), '/data')
    assert.equal(last(name, 'WORKDIR'), '/data')
    assert.equal(last(name, 'STOPSIGNAL'), 'SIGTERM')
    assert.equal(words(name, 'ENTRYPOINT', '/app')[0], 'node')
    assert.ok(words(name, 'HEALTHCHECK', '/app').length > 0)
  }
  assert.match(stages().get('build').instructions.at(-1)[1], /^npm run pack -- --out \/packed$/)
  assert.match(last('toolpost', 'COPY'), /^--from=install \/app \/app$/)
  assert.match(last('voice', 'COPY'), /^--from=install-voice \/app \/app$/)
}
