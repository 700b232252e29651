import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ToolExecutor } from '../executor/executor.ts'
import type { Logger } from '../logging/logger.ts'
import { defineTool } from '../tools/tool.ts'
import { type Clock, MAX_TIMER_MS, systemClock, type Timer } from '../util/clock.ts'
import { isRecord } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import { describeThrown } from '../util/quietly.ts'
import type { Part } from './configuration.ts'
import { readJson, writePrivate } from './local-state.ts'

export interface TimerEvent {
  name: string | undefined
  /** What to say: "The tea timer is done." */
  text: string
}

interface KeptTimer {
  id: string
  name?: string | undefined
  /** Milliseconds since 1970: it outlives the process. */
  endsAt: number
  calls?: { name: string; args?: Record<string, unknown> }[] | undefined
  /** Who set it; its calls are made in their name. */
  origin?: string | undefined
  caller?: string | undefined
}

interface TimerArgs extends Pick<KeptTimer, 'name' | 'calls'> {
  action: 'set' | 'list' | 'remaining' | 'change' | 'cancel'
  seconds?: number
  less?: number
  at?: string
  all?: boolean
}

interface TimersOptions {
  executor: ToolExecutor
  folder: () => string
  onEnd: (event: TimerEvent) => void
  logger: Logger
  clock?: Clock | undefined
  now?: (() => number) | undefined
}

const MAX_TIMERS = 100
const MAX_SECONDS = 30 * 86_400
/** A command that was due longer ago, while nothing was running, is not carried out. */
const MAX_LATE_MS = 60_000
/** The owner's calls, if there are other clients. */
const OWNER = 'default'

/** Timers and commands for later: the `timer` tool. They are kept in `.toolpost/timers.json`, and end while the project runs. */
export class Timers implements Part {
  readonly #options: TimersOptions
  readonly #now: () => number
  readonly #data = JSON.parse(readFileSync(join(packageRoot(), 'data', 'timer.json'), 'utf8'))
  #timers: KeptTimer[] = []
  #next: Timer | undefined

  constructor(options: TimersOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  /** Adds the tool and goes on with the timers that were kept. */
  start(): void {
    const kept = readJson(this.#file)
    const isTimer = (each: unknown): each is KeptTimer => isRecord(each) && typeof each.endsAt === 'number'
    this.#timers = Array.isArray(kept) ? kept.filter(isTimer) : []
    const handler = (args: TimerArgs, options: object) => this.#handle(args, options)
    this.#options.executor.tools.addCustomTool(defineTool<TimerArgs>({ ...this.#data.tool, handler }))
    this.#schedule()
  }

  close(): void {
    this.#next?.cancel()
    this.#next = undefined
  }

  get #file(): string {
    return join(this.#options.folder(), 'timers.json')
  }

  /** A text of `data/timer.json`, with its slots filled in. */
  #text(key: string, slots: Record<string, unknown> = {}): string {
    return this.#data.texts[key].replace(/\{(\w+)\}/g, (_: string, slot: string) => String(slots[slot]))
  }

  /** The same about a timer. */
  #say(key: string, timer: KeptTimer): string {
    const { name, calls, endsAt } = timer
    const title = this.#text(name !== undefined ? 'named' : calls ? 'command' : 'unnamed', { name })
    const seconds = Math.max(0, Math.round((endsAt - this.#now()) / 1_000))
    const parts = [
      counted(Math.floor(seconds / 3_600), 'hour'),
      counted(Math.floor((seconds % 3_600) / 60), 'minute'),
      counted(seconds % 60, 'second'),
    ]
    const left = parts.filter(part => !part.startsWith('0')).join(' ') || '0 seconds'
    return this.#text(key, { timer: title, left })
  }

  #handle(args: TimerArgs, by: Pick<KeptTimer, 'origin' | 'caller'>): object {
    const { action, name, seconds = 0, less = 0, all } = args
    if (action === 'set') return this.#set(args, by)
    if (action === 'list') {
      const text = this.#timers.map(timer => this.#say('remaining', timer)).join('; ')
      return {
        text: text ? `${text}.` : this.#text('none'),
        timers: this.#timers.map(timer => this.#shown(timer)),
      }
    }
    if (action === 'cancel' && all) {
      const { length } = this.#timers
      this.#keep([])
      const count = `${counted(length, 'timer')} ${length === 1 ? 'is' : 'are'}`
      return { text: this.#text(length === 0 ? 'none' : 'cancelledAll', { count }) }
    }
    const timer = this.#find(name)
    if (action === 'remaining') return { text: `${this.#say('remaining', timer)}.`, ...this.#shown(timer) }
    const others = this.#timers.filter(each => each !== timer)
    if (action === 'cancel') {
      this.#keep(others)
      return { text: this.#say('cancelled', timer) }
    }
    const changed = { ...timer, endsAt: timer.endsAt + (seconds - less) * 1_000 }
    this.#keep([...others, changed])
    return { text: this.#say('changed', changed), ...this.#shown(changed) }
  }

  #set({ name, seconds = 0, at, calls }: TimerArgs, { origin, caller }: Partial<KeptTimer>): object {
    const endsAt = at === undefined ? this.#now() + seconds * 1_000 : nextTime(at, this.#now())
    const total = (endsAt - this.#now()) / 1_000
    if (!(total > 0) || total > MAX_SECONDS) throw new Error(this.#text('tooLong'))
    if (this.#timers.length >= MAX_TIMERS) throw new Error(this.#text('tooMany', { count: MAX_TIMERS }))
    if (calls && caller !== undefined && caller !== OWNER) throw new Error(this.#text('ownerOnly'))
    const unknown = calls?.find(call => !this.#options.executor.tools.findTool(call.name))
    if (unknown) throw new Error(`Tool '${unknown.name}' not found`)
    const timer = { id: randomUUID(), name, endsAt, ...(calls && { calls, origin, caller }) }
    this.#keep([...this.#timers, timer])
    return { text: this.#say(calls ? 'later' : 'set', timer), ...this.#shown(timer) }
  }

  /** The named timer, or the only one. Throws an Error that lists the timers. */
  #find(name: string | undefined): KeptTimer {
    const wanted = name?.toLowerCase()
    const found = this.#timers.filter(each => wanted === undefined || each.name?.toLowerCase() === wanted)
    if (found[0] && found.length === 1) return found[0]
    if (this.#timers.length === 0) throw new Error(this.#text('none'))
    const titles = this.#timers.map(each => this.#say('title', each))
    throw new Error(this.#text('which', { timers: titles.join(', ') }))
  }

  #shown({ id, name, endsAt, calls }: KeptTimer): object {
    const remaining = Math.max(0, Math.round((endsAt - this.#now()) / 1_000))
    return { id, ...(name !== undefined && { name }), remaining_seconds: remaining, ...(calls && { calls }) }
  }

  #keep(timers: KeptTimer[]): void {
    this.#timers = timers
    writePrivate(this.#file, JSON.stringify(timers))
    this.#schedule()
  }

  #schedule(): void {
    this.close()
    if (this.#timers.length === 0) return
    const first = Math.min(...this.#timers.map(({ endsAt }) => endsAt))
    const delayMs = Math.min(Math.max(0, first - this.#now()), MAX_TIMER_MS)
    this.#next = (this.#options.clock ?? systemClock).setTimer(() => this.#endDue(), delayMs)
    this.#next.hold(false)
  }

  #endDue(): void {
    const due = this.#timers.filter(({ endsAt }) => endsAt <= this.#now())
    this.#keep(this.#timers.filter(timer => !due.includes(timer)))
    for (const timer of due)
      void this.#end(timer).catch(error =>
        this.#options.logger.warn({ error: describeThrown(error) }, 'A timer could not be ended'),
      )
  }

  async #end(timer: KeptTimer): Promise<void> {
    const { name, calls = [], origin = 'timer', caller, endsAt } = timer
    const { executor, onEnd } = this.#options
    if (calls.length === 0) return onEnd({ name, text: this.#say('done', timer) })
    if (this.#now() - endsAt > MAX_LATE_MS) return onEnd({ name, text: this.#say('missed', timer) })
    const said = calls.map(async call => {
      const result = await executor.run(
        { id: `timer_${randomUUID()}`, args: {}, ...call },
        { origin, caller },
      )
      return result.success ? executor.text(result) : this.#text('failed', { error: result.error })
    })
    onEnd({ name, text: (await Promise.all(said)).join(' ') })
  }
}

/** The next time that a clock shows `at`. */
function nextTime(at: string, now: number): number {
  const [hours = 0, minutes = 0] = at.split(':').map(Number)
  const today = new Date(now).setHours(hours, minutes, 0, 0)
  return today > now ? today : new Date(today).setDate(new Date(today).getDate() + 1)
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
