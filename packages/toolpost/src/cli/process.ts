import { constants } from 'node:os'
import { unlessAborted } from '../util/clock.ts'
import type { Flags } from './context.ts'

/* What a command shares with the shell that runs it: exit codes, signals and options. */

/** 1: the tool or the answer failed. 2: the command was misused, or the configuration is wrong; nothing ran. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** A misuse of the command line, reported in one line. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Waiting was cut short because the program was asked to stop. */
export class Stopped extends Error {
  override name = 'Stopped'
  override message = 'Toolpost was asked to stop'
}

const stopping = new AbortController()
const signal: AbortSignal = stopping.signal

/** SIGTERM, Ctrl-C and a closed terminal, as requests to stop. */
export const stop = {
  /** Aborted with a `Stopped` by the first request. Commands then end soon, on their own. */
  signal,
  first: new Promise<unknown>(done => signal.addEventListener('abort', done)),
  /** By the shell's convention: 128 plus the number of the first signal. */
  exitCode: undefined as number | undefined,
  /** Called by every further request. */
  onImpatience() {},
  /** Called by SIGHUP, which stops the program unless this returns true. */
  onHangup: () => false,
}

export function listenForSignals(): void {
  const onSignal = (name: NodeJS.Signals) => {
    if (name === 'SIGHUP' && stop.onHangup()) return
    if (signal.aborted) return stop.onImpatience()
    stop.exitCode = 128 + constants.signals[name]
    stopping.abort(new Stopped())
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal)
}

/** The result of `work`; rejects with `Stopped` as soon as the program is asked to stop. */
export const unlessStopped = <T>(work: Promise<T>): Promise<T> => unlessAborted(work, signal)

/** The number given as an option, if there is one. */
export function numberOf(flags: Flags, name: keyof Flags, min: number, max: number): number | undefined {
  const given = flags[name]
  if (given === undefined) return undefined
  if (Number(given) >= min && Number(given) <= max) return Number(given)
  throw new UsageError(`--${name} expects a number from ${min} to ${max}, got '${given}'`)
}

export const timeoutOf = (flags: Flags): number | undefined => numberOf(flags, 'timeout', 1, 2_147_483_647)
