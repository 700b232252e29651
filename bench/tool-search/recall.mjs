/*
 * How often one of the tools that are meant is among the first five that `find_tools` finds, for questions that
 * paraphrase what a tool is for. Tools: as 17 MCP servers from npm list them. Questions: written by hand; every other one
 * was used to find the weights, the rest was not.
 */
import { readFileSync } from 'node:fs'
import { ToolManager } from 'toolpost'
import { searchOf } from '../../packages/toolpost/dist/tools/search/tool-search.js'

const read = name => readFileSync(new URL(name, import.meta.url), 'utf8')
const invoke = () => {}

const tools = new ToolManager()
const definitions = JSON.parse(read('tools.json'))
for (const server of new Set(definitions.map(tool => tool.server)))
  tools.addMcpTools(
    definitions.filter(tool => tool.server === server).map(tool => ({ ...tool, invoke })),
    { server },
  )

const questions = read('questions.txt')
  .trim()
  .split('\n')
  .map(line => line.split(' | '))
  .map(([question, names]) => ({
    question,
    wanted: new Set(names.split(' ').map(name => name.split('/').at(-1))),
  }))

const halves = { tuned: [], 'held out': [] }
for (const [at, { question, wanted }] of questions.entries()) {
  const found = await searchOf(tools).search(question, { limit: 5 })
  const isHit = found.some(tool => wanted.has(tools.originOf(tool).name))
  halves[at % 2 === 0 ? 'tuned' : 'held out'].push(isHit)
  if (!isHit && process.argv.includes('--misses')) console.log(`missed: ${question}`)
}
for (const [half, hits] of Object.entries(halves)) {
  const recall = hits.filter(Boolean).length / hits.length
  console.log(
    `recall@5, ${half}: ${recall.toFixed(3)} of ${hits.length} questions, ${definitions.length} tools`,
  )
}

const many = new ToolManager()
for (let copy = 0; copy < 10_000; copy++) {
  const tool = definitions[copy % definitions.length]
  many.addMcpTools([{ ...tool, name: `${tool.name}_${copy}`, invoke }], {
    server: `${tool.server}${copy % 50}`,
  })
}
const begin = performance.now()
await searchOf(many).search('first')
console.log(`10,000 tools indexed in ${Math.round(performance.now() - begin)} ms`)
const times = []
for (const { question } of questions) {
  const start = performance.now()
  await searchOf(many).search(question, { limit: 5 })
  times.push(performance.now() - start)
}
times.sort((a, b) => a - b)
console.log(
  `a query among them: median ${times[times.length >> 1].toFixed(1)} ms, worst ${times.at(-1).toFixed(1)} ms`,
)
