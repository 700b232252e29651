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
  }

  get #file(): string {
    return join(this.#options.folder(), 'timers.json')
  }

  #text(key: string, slots: Record<string, unknown> = {}): string {
    return this.#data.texts[key].replace(/\{(\w+)\}/g, (_: string, slot: string) => String(slots[slot]))
  }

  #say(key: string, timer: KeptTimer): string {
    const { name, calls } = timer
    const title = this.#text(name !== undefined ? 'named' : calls ? 'command' : 'unnamed', { name })
    const seconds = this.#secondsLeft(timer)
    const parts = {
      hour: Math.floor(seconds / 3_600),
      minute: Math.floor(seconds / 60) % 60,
      second: seconds % 60,
    }
    const shown = Object.entries(parts).filter(([, count]) => count > 0)
    const left = shown.map(([unit, count]) => counted(count, unit)).join(' ') || '0 seconds'
    return this.#text(key, { timer: title, left })
  }

  #secondsLeft({ endsAt }: KeptTimer): number {
    return Math.max(0, Math.round((endsAt - this.#now()) / 1_000))
  }

  #shown(timer: KeptTimer): object {
    const { id, name, calls } = timer
    const given = { ...(name !== undefined && { name }), ...(calls && { calls }) }
    return { id, ...given, remaining_seconds: this.#secondsLeft(timer) }
  }

  #handle(args: TimerArgs, by: Pick<KeptTimer, 'origin' | 'caller'>): object {
    const { action, name, seconds = 0, less = 0, all } = args
    const timers = this.#timers
    if (action === 'set') return this.#set(args, by)
    if (action === 'list') {
      const text = timers.map(timer => this.#say('remaining', timer)).join('; ')
      return { text: text ? `${text}.` : this.#text('none'), timers: timers.map(timer => this.#shown(timer)) }
    }
    if (action === 'cancel' && all) {
      const count = `${counted(timers.length, 'timer')} ${timers.length === 1 ? 'is' : 'are'}`
      this.#keep([])
      return { text: this.#text(timers.length === 0 ? 'none' : 'cancelledAll', { count }) }
    }
    const timer = this.#find(name)
    if (action === 'remaining') return { text: `${this.#say('remaining', timer)}.`, ...this.#shown(timer) }
    const changed = { ...timer, endsAt: timer.endsAt + (seconds - less) * 1_000 }
    const others = timers.filter(each => each !== timer)
    this.#keep(action === 'cancel' ? others : [...others, changed])
    if (action === 'cancel') return { text: this.#say('cancelled', timer) }
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
    const timers = this.#timers.map(each => this.#say('title', each)).join(', ')
    throw new Error(this.#text(timers ? 'which' : 'none', { timers }))
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
    const warn = (error: unknown) =>
      this.#options.logger.warn({ error: describeThrown(error) }, 'A timer could not be ended')
    for (const timer of due) void this.#end(timer).catch(warn)
  }

  async #end(timer: KeptTimer): Promise<void> {
    const { name, calls, origin = 'timer', caller, endsAt } = timer
    const { executor, onEnd } = this.#options
    const isLate = this.#now() - endsAt > MAX_LATE_MS
    if (!calls || isLate) return onEnd({ name, text: this.#say(calls ? 'missed' : 'done', timer) })
    const said = calls.map(async call => {
      const given = { id: `timer_${randomUUID()}`, args: {}, ...call }
      const result = await executor.run(given, { origin, caller })
      return result.success ? executor.text(result) : this.#text('failed', { error: result.error })
    })
    onEnd({ name, text: (await Promise.all(said)).join(' ') })
  }
}

function nextTime(at: string, now: number): number {
  const [hours = 0, minutes = 0] = at.split(':').map(Number)
  const today = new Date(now).setHours(hours, minutes, 0, 0)
  return today > now ? today : new Date(today).setDate(new Date(today).getDate() + 1)
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
