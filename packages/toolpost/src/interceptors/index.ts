export { denied, limited } from './refuse.ts'
