export { createDurable } from './durable.ts'
