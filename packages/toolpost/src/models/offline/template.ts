/*
 * Sentences that call a tool. The whole grammar:
 *
 *   turn                the word itself; case and small misspellings do not matter
 *   [the]               optional words; may hold anything below, also slots
 *   (notes|documents)   one of these
 *   {deviceName}        an argument: what the tool's schema says it takes (one of its values, a number in figures or
 *                       words, yes or no, else any words)
 *   {action:on|off}     an argument that takes one of these values
 *   {action=get}        an argument with this value; takes no words
 *   {expression#math}   an argument that takes a calculation and nothing else
 *
 * `turn {action:on|off} [the] {deviceName}` matches "Turn on the living room light".
 */

export type TemplateNode =
  | { kind: 'word'; key: string }
  | { kind: 'group'; branches: TemplateNode[][]; isOptional: boolean }
  | { kind: 'slot'; name: string; choices?: string[]; isCalculation?: boolean }
  | { kind: 'fixed'; name: string; value: string }

/** A sentence that does not follow the grammar. */
export class TemplateError extends Error {
  override name = 'TemplateError'
}

const TOKEN = /\{[^{}]*\}|[[\]()|]|[^\s[\](){}|]+|[{}]/gu
const SLOT = /^\{\s*([\p{L}\p{N}_$.-]+)\s*(?:([:=#])(.*))?\}$/su
const MAX_LENGTH = 1_000

/** Reads a sentence. Throws a TemplateError that says what is wrong with it. */
export function parseTemplate(text: string): TemplateNode[] {
  if (text.length > MAX_LENGTH) throw new TemplateError(`is longer than ${MAX_LENGTH} characters`)
  const reader = new Reader(text.match(TOKEN) ?? [])
  const nodes = reader.readBranch()
  if (reader.next !== undefined) throw new TemplateError(`has a '${reader.next}' that nothing opens`)
  if (nodes.length === 0) throw new TemplateError('has no words')
  return nodes
}

class Reader {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens
  }

  get next(): string | undefined {
    return this.#tokens[this.#at]
  }

  readBranch(): TemplateNode[] {
    const nodes: TemplateNode[] = []
    for (let token = this.next; token !== undefined && !']|)'.includes(token); token = this.next) {
      this.#at++
      nodes.push(this.#readNode(token))
    }
    return nodes
  }

  #readNode(token: string): TemplateNode {
    if (token === '[') return { kind: 'group', branches: this.#readBranches(']'), isOptional: true }
    if (token === '(') return { kind: 'group', branches: this.#readBranches(')'), isOptional: false }
    if (token.startsWith('{') || token === '}') return readSlot(token)
    return { kind: 'word', key: token.toLowerCase() }
  }

  #readBranches(close: string): TemplateNode[][] {
    const branches = [this.readBranch()]
    while (this.next === '|') {
      this.#at++
      branches.push(this.readBranch())
    }
    if (this.next !== close) throw new TemplateError(`has a bracket without its '${close}'`)
    this.#at++
    return branches
  }
}

function readSlot(token: string): TemplateNode {
  const [, name, mark, written = ''] = SLOT.exec(token) ?? []
  const rest = written.trim()
  if (name === undefined) throw new TemplateError(`has '${token}', which is not an argument`)
  if (mark === '=') return { kind: 'fixed', name, value: rest }
  if (mark === '#') {
    if (rest !== 'math') throw new TemplateError(`has '${token}'; the only kind is #math`)
    return { kind: 'slot', name, isCalculation: true }
  }
  if (mark !== ':') return { kind: 'slot', name }
  const choices = rest.split('|').map(choice => choice.trim())
  if (choices.includes('')) throw new TemplateError(`has '${token}' with an empty value`)
  return { kind: 'slot', name, choices }
}
