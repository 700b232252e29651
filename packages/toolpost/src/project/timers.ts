import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { defineTool } from '../tools/tool.ts'
import { MAX_TIMER_MS } from '../util/clock.ts'
import { isRecord } from '../util/guards.ts'
import { packageJson } from '../util/package-root.ts'
import { writePrivate } from '../util/private-file.ts'
import { quietly } from '../util/quietly.ts'
import type { ProjectContext } from './configuration.ts'
import { readJson, stateFolder } from './local-state.ts'

/** `text` is what to say: "The tea timer is done." */
export type TimerEvent = { name: string | undefined; text: string }

/** `endsAt`: milliseconds since 1970, since it outlives the process. Its calls are made in the name of whoever set it. */
interface KeptTimer extends Partial<Record<'name' | 'origin' | 'caller', string | undefined>> {
  id: string
  endsAt: number
  calls?: { name: string; args?: Record<string, unknown> }[] | undefined
}

interface TimerArgs extends Pick<KeptTimer, 'name' | 'calls'> {
  action: 'set' | 'list' | 'remaining' | 'change' | 'cancel'
  seconds?: number
  less?: number
  at?: string
  all?: boolean
}

const MAX_TIMERS = 100
const MAX_SECONDS = 30 * 86_400
/** A command that was due longer ago, while nothing was running, is not carried out. */
const MAX_LATE_MS = 60_000
const OWNER = 'default'
const UNITS = { hour: 3_600, minute: 60, second: 1 }

type TimersContext = Pick<ProjectContext, 'executor' | 'configuration' | 'say' | 'tell'>

/** Timers and commands for later: the `timer` tool. They are kept in `.toolpost/timers.json`, and end while the project runs. */
export function projectTimers({ executor, configuration, say: announce, tell }: TimersContext) {
  const data = packageJson('data/timer.json')
  const file = () => join(stateFolder(configuration.current.file), 'timers.json')
  let timers: KeptTimer[] = []
  let next: NodeJS.Timeout | undefined

  const text = (key: string, slots: Record<string, unknown> = {}): string =>
    data.texts[key].replace(/\{(\w+)\}/g, (_: string, slot: string) => String(slots[slot]))
  const say = (key: string, timer: KeptTimer) => {
    const { name, calls } = timer
    const title = text(name !== undefined ? 'named' : calls ? 'command' : 'unnamed', { name })
    return text(key, { timer: title, left: spoken(secondsLeft(timer)) })
  }
  const schedule = () => {
    clearTimeout(next)
    if (timers.length === 0) return
    const first = Math.min(...timers.map(({ endsAt }) => endsAt))
    next = setTimeout(endDue, Math.min(Math.max(0, first - Date.now()), MAX_TIMER_MS)).unref()
  }
  const keep = (changed: KeptTimer[]) => {
    timers = changed
    schedule()
    writePrivate(file(), JSON.stringify(timers))
  }
  const endDue = () => {
    const due = timers.filter(({ endsAt }) => endsAt <= Date.now())
    quietly(() => keep(timers.filter(timer => !due.includes(timer))))
    for (const timer of due) void end(timer)
  }
  const end = async (timer: KeptTimer) => {
    const { name, calls, origin = 'timer', caller, endsAt } = timer
    const isLate = Date.now() - endsAt > MAX_LATE_MS
    const done = (calls && !isLate ? calls : []).map(async call => {
      const result = await executor.run({ args: {}, ...call }, { origin, caller })
      return result.success ? executor.text(result) : text('failed', { error: result.error })
    })
    const said = (await Promise.all(done)).join(' ') || say(calls ? 'missed' : 'done', timer)
    announce(said)
    tell('timer', { name, text: said })
  }
  const set = ({ name, seconds = 0, at, calls }: TimerArgs, { origin, caller }: Partial<KeptTimer>) => {
    const endsAt = at === undefined ? Date.now() + seconds * 1_000 : nextTime(at)
    const total = (endsAt - Date.now()) / 1_000
    if (!(total > 0) || total > MAX_SECONDS) throw new Error(text('tooLong'))
    if (timers.length >= MAX_TIMERS) throw new Error(text('tooMany', { count: MAX_TIMERS }))
    if (calls && caller !== undefined && caller !== OWNER) throw new Error(text('ownerOnly'))
    const unknown = calls?.find(call => !executor.tools.findTool(call.name))
    if (unknown) throw new Error(`Tool '${unknown.name}' not found`)
    const timer = { id: randomUUID(), name, endsAt, ...(calls && { calls, origin, caller }) }
    keep([...timers, timer])
    return { text: say(calls ? 'later' : 'set', timer), ...shown(timer) }
  }
  const handler = (args: TimerArgs, by: Pick<KeptTimer, 'origin' | 'caller'>): object => {
    const { action, name, seconds = 0, less = 0, all } = args
    if (action === 'set') return set(args, by)
    if (action === 'list') {
      const list = timers.map(timer => say('remaining', timer)).join('. ')
      return { text: list ? `${list}.` : text('none'), timers: timers.map(shown) }
    }
    if (action === 'cancel' && all) {
      const said = text(timers.length === 0 ? 'none' : 'cancelledAll')
      keep([])
      return { text: said }
    }
    // The named timer, or the only one.
    const isMeant = (each: KeptTimer) => !name || each.name?.toLowerCase() === name.toLowerCase()
    const [timer, ...more] = timers.filter(isMeant)
    const titles = timers.map(each => say('title', each)).join(', ')
    if (!timer || more.length > 0) throw new Error(text(titles ? 'which' : 'none', { timers: titles }))
    if (action === 'remaining') return { text: `${say('remaining', timer)}.`, ...shown(timer) }
    const changed = { ...timer, endsAt: timer.endsAt + (seconds - less) * 1_000 }
    const others = timers.filter(each => each !== timer)
    keep(action === 'cancel' ? others : [...others, changed])
    if (action === 'cancel') return { text: say('cancelled', timer) }
    return { text: say('changed', changed), ...shown(changed) }
  }
  return {
    start() {
      const { local } = configuration.config
      if (local !== undefined && (local === false || !local.includes('timer'))) return
      const kept = readJson(file())
      const isTimer = (each: unknown) => isRecord(each) && typeof each.endsAt === 'number'
      timers = Array.isArray(kept) ? kept.filter(isTimer) : []
      executor.tools.addCustomTool(defineTool<TimerArgs>({ ...data.tool, handler }))
      schedule()
    },
    close: () => clearTimeout(next),
  }
}

function spoken(seconds: number): string {
  let rest = seconds
  const parts = Object.entries(UNITS).map(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest %= size
    return count === 0 ? [] : `${count} ${unit}${count === 1 ? '' : 's'}`
  })
  return parts.flat().join(' ') || '0 seconds'
}

const secondsLeft = ({ endsAt }: KeptTimer) => Math.max(0, Math.round((endsAt - Date.now()) / 1_000))

function shown(timer: KeptTimer): object {
  const { id, name, calls } = timer
  return {
    id,
    ...(name !== undefined && { name }),
    ...(calls && { calls }),
    remaining_seconds: secondsLeft(timer),
  }
}

function nextTime(at: string): number {
  const [hours = 0, minutes = 0] = at.split(':').map(Number)
  const today = new Date().setHours(hours, minutes, 0, 0)
  return today > Date.now() ? today : new Date(today).setDate(new Date(today).getDate() + 1)
}
