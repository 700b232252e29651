export { stderrLogger } from '../logging/stderr-logger.ts'
export type { ExampleHome } from './example-home.ts'
export { type OpenProjectOptions, openProject, type Project } from './open-project.ts'
export { Servers, type ServersOptions } from './servers.ts'
