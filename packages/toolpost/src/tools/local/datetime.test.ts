import { afterEach, describe, expect, it, vi } from 'vitest'
import { datetime } from './datetime.ts'

const winterNoon = Date.parse('2025-01-15T12:00:07Z')

const ask = datetime({ now: () => winterNoon })

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('datetime', () => {
  it('gives date, time, weekday, zone and offset, and a sentence to say', async () => {
    expect(await ask({ timezone: 'Tokyo' })).toEqual({
      iso: '2025-01-15T21:00:07+09:00',
      date: '2025-01-15',
      time: '21:00',
      weekday: 'Wednesday',
      timezone: 'Asia/Tokyo',
      utc_offset: '+09:00',
      text: 'It is 21:00 on Wednesday, 15 January 2025 in Tokyo.',
    })
  })

  it('uses the zone of the machine where none is asked for', async () => {
    vi.stubEnv('TZ', 'America/Halifax')
    const result = await ask({})
    expect(result).toMatchObject({ timezone: 'America/Halifax', iso: '2025-01-15T08:00:07-04:00' })
    expect(result.text).toBe('It is 08:00 on Wednesday, 15 January 2025.')
    expect(await ask({ timezone: ' ' })).toEqual(result)
  })

  it.each(['', 'Foo/Bar', 'UTC0', ':/etc/localtime'])('falls back to UTC where TZ is %j', async setting => {
    vi.stubEnv('TZ', setting)
    expect(await ask({})).toMatchObject({ timezone: 'UTC', utc_offset: '+00:00', time: '12:00' })
  })

  it.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['America/New York', 'America/New_York'],
    ['new york', 'America/New_York'],
    ['Asia/Calcutta', 'Asia/Kolkata'],
    ['San Francisco', 'America/Los_Angeles'],
    ['münchen', 'Europe/Berlin'],
    ['São Paulo', 'America/Sao_Paulo'],
    ['Washington, D.C.', 'America/New_York'],
    ['Netherlands', 'Europe/Amsterdam'],
    ['US/Pacific', 'America/Los_Angeles'],
    ['gmt', 'UTC'],
    ['Tokyo, Japan', 'Asia/Tokyo'],
  ])('takes %j for %s', async (given, zone) => {
    expect((await ask({ timezone: given })).timezone).toBe(zone)
  })

  it.each(['Xqzzy Wvvk', '+05:30', '__proto__', 'Etc/Unknown', 'Europe', 'Tokio', 'Paris, Texas'])(
    'refuses %j',
    async timezone => {
      await expect(ask({ timezone })).rejects.toThrow(`Unknown time zone or city '${timezone}'.`)
    },
  )
})
