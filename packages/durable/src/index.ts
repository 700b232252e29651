export { createDurable } from './engine.ts'
