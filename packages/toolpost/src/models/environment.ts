/** Environment variables: `process.env`, or what a test gives. */
export type Environment = Readonly<Record<string, string | undefined>>
