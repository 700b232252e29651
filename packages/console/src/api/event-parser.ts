export interface ServerEvent {
  event: string
  data: string
  id: string | undefined
}

/** Server-sent events out of text that arrives in any pieces. Comments and events without data give nothing. */
export class EventParser {
  #rest = ''
  #event = ''
  #data: string[] = []
  #id: string | undefined

  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = []
    const lines = this.#linesOf(text)
    for (const line of lines) {
      if (line !== '') this.#readField(line)
      else if (this.#data.length > 0) events.push(this.#take())
      else this.#event = ''
    }
    return events
  }

  /** Whole lines only; a carriage return at the very end may be the first half of a line break. */
  #linesOf(text: string): string[] {
    const all = this.#rest + text
    const held = all.endsWith('\r') ? '\r' : ''
    const lines = all.slice(0, all.length - held.length).split(/\r\n|\r|\n/)
    this.#rest = (lines.pop() ?? '') + held
    return lines
  }

  #readField(line: string): void {
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') this.#event = value
    else if (field === 'data') this.#data.push(value)
    else if (field === 'id' && !value.includes('\0')) this.#id = value
  }

  #take(): ServerEvent {
    const event = { event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id }
    this.#event = ''
    this.#data = []
    return event
  }
}
