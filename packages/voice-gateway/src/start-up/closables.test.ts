import { describe, expect, it, vi } from 'vitest'
import { Closables } from './closables.ts'

const part = (close = async () => {}) => ({ close: vi.fn(close) })

describe('Closables', () => {
  it('closes all of them, even if one fails', async () => {
    const closables = new Closables()
    const broken = closables.add(part(() => Promise.reject(new Error('no'))))
    const good = closables.add(part())
    await closables.close()
    expect(broken.close).toHaveBeenCalledOnce()
    expect(good.close).toHaveBeenCalledOnce()
  })

  it('immediately closes what comes too late', async () => {
    const closables = new Closables()
    await closables.close()
    expect(closables.isClosed).toBe(true)
    expect(closables.add(part()).close).toHaveBeenCalledOnce()
  })
})
