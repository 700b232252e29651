/** Environment variables: `process.env`, or a stub in tests. */
export type Environment = Readonly<Record<string, string | undefined>>
