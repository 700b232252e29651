/*
 * How often a wanted tool is among the first five results of `find_tools`, for questions that paraphrase a tool's purpose.
 * Tools: as listed by 17 MCP servers from npm. Questions: written by hand. Every other one in questions.txt was used to
 * tune the weights; everyday-questions.txt is in everyday words, and was used to add synonyms; unseen-questions.txt was
 * written afterwards, and nothing was changed because of it.
 */
import { readFileSync } from 'node:fs'
import { ToolManager } from 'toolpost'
import { searchOf } from '../../packages/toolpost/dist/tools/search/tool-search.js'
import { fixed, printGoals, printTable } from './report.mjs'

const read = name => readFileSync(new URL(`../tool-search/${name}`, import.meta.url), 'utf8')
const invoke = () => {}
const definitions = JSON.parse(read('tools.json'))
const tools = new ToolManager()
for (const server of new Set(definitions.map(tool => tool.server)))
  tools.addMcpTools(
    definitions.filter(tool => tool.server === server).map(tool => ({ ...tool, invoke })),
    { server },
  )

const first = questionsOf('questions.txt')
const sets = {
  tuned: first.filter((_, at) => at % 2 === 0),
  'held out': first.filter((_, at) => at % 2 === 1),
  everyday: questionsOf('everyday-questions.txt'),
  unseen: questionsOf('unseen-questions.txt'),
}
const recalls = {}
for (const [name, questions] of Object.entries(sets)) recalls[name] = await recallOf(questions, name)
printTable(
  [`recall@5, ${definitions.length} tools`, 'questions', 'recall'],
  Object.entries(sets).map(([name, { length }]) => [name, length, fixed(recalls[name], 3)]),
)

const many = new ToolManager()
for (let copy = 0; copy < 10_000; copy++) {
  const tool = definitions[copy % definitions.length]
  const server = `${tool.server}${copy % 50}`
  many.addMcpTools([{ ...tool, name: `${tool.name}_${copy}`, invoke }], { server })
}
const indexMs = await timed(() => searchOf(many).search('first'))
const times = []
for (const { question } of Object.values(sets).flat())
  times.push(await timed(() => searchOf(many).search(question, { limit: 5 })))
times.sort((a, b) => a - b)
const at = share => times[Math.floor(share * (times.length - 1))]
console.log(
  `A query among 10,000 tools: median ${fixed(at(0.5))} ms, p99 ${fixed(at(0.99))} ms, max ${fixed(at(1))} ms\n`,
)
printGoals([
  { goal: '10,000 tools indexed in ≤ 3 s', measured: `${Math.round(indexMs)} ms`, reached: indexMs <= 3_000 },
  { goal: 'a query ≤ 50 ms, median', measured: `${fixed(at(0.5))} ms`, reached: at(0.5) <= 50 },
  { goal: 'recall@5 ≥ 0.85, unseen', measured: fixed(recalls.unseen, 3), reached: recalls.unseen >= 0.85 },
])

function questionsOf(file) {
  const lines = read(file).trim().split('\n')
  return lines.map(line => {
    const [question, names] = line.split(' | ')
    return { question, wanted: new Set(names.split(' ').map(name => name.split('/').at(-1))) }
  })
}

async function recallOf(questions, set) {
  let hits = 0
  for (const { question, wanted } of questions) {
    const found = await searchOf(tools).search(question, { limit: 5 })
    if (found.some(tool => wanted.has(tools.originOf(tool).name))) hits++
    else if (process.argv.includes('--misses')) console.log(`missed, ${set}: ${question}`)
  }
  return hits / questions.length
}

async function timed(work) {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}
