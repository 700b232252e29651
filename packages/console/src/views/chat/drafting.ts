import { Store } from '../../state/store.ts'

/** A sentence with a blank to fill in before asking. */
export const drafting = new Store<string | undefined>(undefined)
