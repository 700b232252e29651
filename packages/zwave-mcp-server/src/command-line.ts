import { parseArgs } from 'node:util'
import { ConfigError } from './config.ts'
import { createLogger, type Logger, type LogLevel } from './log.ts'

export const FLAG = { type: 'boolean' } as const
export const TEXT = { type: 'string' } as const

type Options = Readonly<Record<string, typeof FLAG | typeof TEXT>>
type Values<Given extends Options> = {
  [Name in keyof Given]?: Given[Name] extends typeof FLAG ? boolean : string
} & { help?: boolean; version?: boolean }

/** Parses the command's options, including `--help` and `--version`. */
export function readOptions<Given extends Options>(command: string, options: Given): Values<Given> {
  try {
    const common = { version: FLAG, help: { ...FLAG, short: 'h' } }
    return parseArgs({ options: { ...options, ...common } }).values as Values<Given>
  } catch (error) {
    throw new ConfigError(`${error instanceof Error ? error.message : error} See ${command} --help.`)
  }
}

export function stderrLogger(level: LogLevel): Logger {
  return createLogger({
    level,
    write: line => void process.stderr.write(`${line}\n`),
    pretty: process.stderr.isTTY,
  })
}

/** Prints one line saying why the command failed; returns its exit code. */
export function reportFailure(command: string, error: unknown): 1 | 2 {
  process.stderr.write(`${command}: ${error instanceof Error ? error.message : String(error)}\n`)
  return error instanceof ConfigError ? 2 : 1
}
