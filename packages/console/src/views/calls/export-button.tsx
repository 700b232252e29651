import { exportCalls } from '../../api/gateway-api.ts'
import { Button } from '../../components/button.tsx'
import { Problem } from '../../components/problem.tsx'
import { useAttempt } from '../../components/use-attempt.ts'
import type { CallFilter } from '../../state/call-list.ts'
import { historyQuery } from './use-older-calls.ts'

/** All calls that the filters let through, also those that the page does not show, as a file. */
export function ExportButtons({ filter }: { filter: CallFilter }) {
  const { problem, attempt } = useAttempt()
  const save = (format: 'csv' | 'jsonl') =>
    attempt(async () => download(await exportCalls(historyQuery(filter), format), `calls.${format}`))
  return (
    <>
      <Problem text={problem} />
      <Button look="quiet" icon="download" onClick={() => void save('csv')}>
        CSV
      </Button>
      <Button look="quiet" icon="download" onClick={() => void save('jsonl')}>
        JSON Lines
      </Button>
    </>
  )
}

function download(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
