// docs/reference/api.md: every public name with its declaration and comment, from the compiler's declaration files.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { root } from './markdown.mjs'

export function apiReference() {
  const parts = publicEntries().map(({ name, file }) => entry(name, file))
  const intro =
    'Every public name, as the compiler declares it. Names that are not listed here may change at any time.'
  return ['# The API, name by name', intro, ...parts].join('\n\n')
}

function publicEntries() {
  return readdirSync(join(root, 'packages'))
    .filter(name => existsSync(join(root, 'packages', name, 'package.json')))
    .flatMap(folder => {
      const {
        name,
        private: isPrivate,
        exports = {},
      } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
      return Object.entries(isPrivate ? {} : exports)
        .filter(([, target]) => target.types)
        .map(([path, { types }]) => ({
          name: name + path.slice(1),
          file: join(root, 'packages', folder, types),
        }))
    })
}

function entry(name, file) {
  const names = exportsOf(file).sort((one, other) => one.name.localeCompare(other.name, 'en'))
  return [`## ${name}`, ...names.map(each => section(each, file))].join('\n\n')
}

/** `export { A, type B } from './file.ts'` in an index. */
function exportsOf(file) {
  return namesFrom(file, /export/)
}

function namesFrom(file, keyword) {
  const lists = new RegExp(`^${keyword.source} (?:type )?\\{([^}]*)\\}(?: from '([^']+)')?`, 'gm')
  return [...readFileSync(file, 'utf8').matchAll(lists)].flatMap(([, list, from]) =>
    list
      .split(',')
      .map(item => item.trim().replace(/^type /, ''))
      .filter(Boolean)
      .map(item => {
        const [original, , name = original] = item.split(' ')
        return { name, original, from: from && declarationFile(from, file) }
      }),
  )
}

/** The declaration file that `from` in `file` refers to: a relative one, or one of our packages. */
function declarationFile(from, file) {
  if (from.startsWith('.')) return join(dirname(file), from.replace(/\.ts$/, '.d.ts'))
  const resolved = createRequire(file).resolve(from)
  return resolved.replace(/\.js$/, '.d.ts')
}

function section({ name, original, from }, index) {
  const found = declaration(original, from ?? index)
  if (!found) throw new Error(`${name} of ${index} was not found in ${from}`)
  const comment = found.comment ? `${found.comment}\n\n` : ''
  return `### ${name}\n\n${comment}\`\`\`ts\n${found.text}\n\`\`\``
}

/** The declaration of a name in a file, or in the file it is re-exported from. */
function declaration(name, file) {
  const lines = readFileSync(file, 'utf8').split('\n')
  const starts = new RegExp(
    `^export (?:declare )?(?:abstract )?(?:class|interface|function|const|type|enum|let) ${name}\\b`,
  )
  const at = lines.findIndex(line => starts.test(line))
  if (at < 0) return passedOn(name, file)
  const last = lines.findLastIndex(line => starts.test(line))
  const overloads = at === last ? [] : lines.slice(at, last)
  const text = [...overloads, ...wholeFrom(lines, last)]
    .filter(line => !/^\s*#private;$/.test(line))
    .join('\n')
  return { comment: commentAbove(lines, at), text: text.replace(/^export (declare )?/gm, '') }
}

function passedOn(name, file) {
  const again = namesFrom(file, /(?:import|export)/).find(one => one.name === name && one.from)
  return again && declaration(again.original, again.from)
}

/** The lines until brackets are closed and the statement ends. */
function wholeFrom(lines, at) {
  let depth = 0
  for (let end = at; end < lines.length; end++) {
    const line = lines[end].replace(/\/\*.*?\*\/|\/\/.*$|=>/g, '')
    for (const sign of line) depth += '{(['.includes(sign) ? 1 : '})]'.includes(sign) ? -1 : 0
    const isOver = depth === 0 && /[;}]$/.test(line.trim()) && !/^\s*[|&]/.test(lines[end + 1] ?? '')
    if (isOver) return lines.slice(at, end + 1)
  }
  return lines.slice(at, at + 1)
}

function commentAbove(lines, at) {
  if (!lines[at - 1]?.trim().endsWith('*/')) return ''
  let start = at - 1
  while (start > 0 && !lines[start].trim().startsWith('/**')) start--
  return lines
    .slice(start, at)
    .map(line => line.trim().replace(/^\/\*\*\s?|\s?\*\/$|^\* ?/g, ''))
    .join(' ')
    .trim()
    .replaceAll('<', '&lt;')
}
