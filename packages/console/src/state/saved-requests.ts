import { isRecord } from '../api/guards.ts'
import { KeptStore } from './kept-store.ts'

/** Arguments saved for reuse. */
interface SavedRequest {
  name: string
  args: unknown
}

type Saved = Readonly<Record<string, readonly SavedRequest[]>>

const MAX_A_TOOL = 20
const MAX_NAME = 80

/** By tool name, newest first. */
class SavedRequests extends KeptStore<Saved> {
  constructor() {
    super({ key: 'toolpost.saved-requests', read: savedIn })
  }

  of(tool: string): readonly SavedRequest[] {
    return Object.hasOwn(this.get(), tool) ? (this.get()[tool] ?? NONE) : NONE
  }

  /** Replaces one with the same name. */
  save(tool: string, { name, args }: SavedRequest): void {
    const request = { name: name.trim().slice(0, MAX_NAME), args }
    const others = this.of(tool).filter(one => one.name !== request.name)
    this.set({ ...this.get(), [tool]: [request, ...others].slice(0, MAX_A_TOOL) })
  }

  remove(tool: string, name: string): void {
    const { [tool]: requests = [], ...others } = this.get()
    const left = requests.filter(one => one.name !== name)
    this.set(left.length === 0 ? others : { ...others, [tool]: left })
  }
}

const NONE: readonly SavedRequest[] = []

function savedIn(kept: unknown): Saved {
  if (!isRecord(kept)) return {}
  const isRequest = (one: unknown) => isRecord(one) && typeof one.name === 'string'
  return Object.fromEntries(
    Object.entries(kept).map(([tool, list]) => [tool, Array.isArray(list) ? list.filter(isRequest) : []]),
  )
}

export const savedRequests = new SavedRequests()
