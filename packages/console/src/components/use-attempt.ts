import { useState } from 'react'
import { messageOf } from '../text/message-of.ts'

/** Runs actions that may fail; `problem` is why the last one did. */
export function useAttempt() {
  const [problem, setProblem] = useState<string>()
  const attempt = async (action: () => Promise<unknown>): Promise<void> => {
    setProblem(undefined)
    try {
      await action()
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return { problem, attempt }
}
