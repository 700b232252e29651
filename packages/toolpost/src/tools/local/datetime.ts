import { defineTool, type Tool } from '../tool.ts'
import type { Place } from './time-zones.ts'

interface DatetimeOptions {
  /** The time in ms since 1970; `Date` if left out. */
  clock?: { now(): number }
}

interface DatetimeResult {
  iso: string
  date: string
  time: string
  weekday: string
  timezone: string
  utc_offset: string
  text: string
}

const schema = {
  type: 'object',
  properties: {
    timezone: {
      type: 'string',
      description:
        'IANA name or well-known city, e.g. "Europe/Berlin", "Tokyo", "San Francisco". Leave it out for local time.',
    },
  },
  additionalProperties: false,
}

/** The tool `datetime`: date, time and weekday, here or in another time zone. */
export function datetimeTool({ clock = Date }: DatetimeOptions = {}): Tool {
  return defineTool<{ timezone?: string }>({
    name: 'datetime',
    description:
      'Returns the current date, time (24-hour clock), weekday and UTC offset. Use it whenever the answer depends on today or now, or for the time in another place.',
    schema,
    readOnly: true,
    idempotent: true,
    sentences: [
      'what time is it [right] [now] [in {timezone}]',
      '[tell me|give me] [what is] the [current|local] (time|date|day) [right] [now] [today] [in {timezone}]',
      '(do you know|tell me|can you tell me) what (time|day|date) it is [now|today] [in {timezone}]',
      '(what|which) (day|date|weekday|day of the week|month|year) is it [today] [in {timezone}]',
      '(what|which) (day|date|weekday|day of the week) is today',
      '(what|which) (month|year) are we in',
      'what is today',
      'is it (monday|tuesday|wednesday|thursday|friday|saturday|sunday) [today]',
      'is today (monday|tuesday|wednesday|thursday|friday|saturday|sunday)',
      'how late is it',
      '([have you] got|do you have) the time',
      '[the] current (time|date)',
      "(what is|tell me) today's date",
      '(time|date) in {timezone}',
      '(time|date)',
    ],
    handler: async ({ timezone }) => describeMoment(clock.now(), await placeFor(timezone)),
  })
}

/** Without a name: here. */
type Where = Pick<Place, 'zone'> & Partial<Place>

async function placeFor(timezone: string | undefined): Promise<Where> {
  const { machineZone, resolvePlace } = await import('./time-zones.ts')
  return timezone?.trim() ? resolvePlace(timezone) : { zone: machineZone() }
}

function describeMoment(nowMs: number, { zone, name }: Where): DatetimeResult {
  const { year, month, day, hour, minute, second, weekday, monthName, offset } = partsIn(zone, nowMs)
  const date = `${year}-${month}-${day}`
  const time = `${hour}:${minute}`
  const where = name === undefined ? '' : ` in ${name}`
  return {
    iso: `${date}T${time}:${second}${offset}`,
    date,
    time,
    weekday,
    timezone: zone,
    utc_offset: offset,
    text: `It is ${time} on ${weekday}, ${Number(day)} ${monthName} ${year}${where}.`,
  }
}

function partsIn(zone: string, nowMs: number) {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    weekday: 'long',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
  })
  const parts = Object.fromEntries(format.formatToParts(nowMs).map(({ type, value }) => [type, value]))
  return {
    ...(parts as Record<Intl.DateTimeFormatPartTypes, string>),
    monthName: new Intl.DateTimeFormat('en-GB', { timeZone: zone, month: 'long' }).format(nowMs),
    // GMT+05:30, and GMT alone for UTC
    offset: parts.timeZoneName?.slice('GMT'.length) || '+00:00',
  }
}
