import { exportCalls } from '../../api/gateway-api.ts'
import { Button } from '../../components/button.tsx'
import { Problem } from '../../components/problem.tsx'
import { useAttempt } from '../../components/use-attempt.ts'
import { saveBlob } from '../../components/viewer/download.tsx'
import type { CallFilter } from '../../state/call-list.ts'
import { historyQuery } from './use-older-calls.ts'

/** Downloads all calls that match the filters, including those the page does not show. */
export function ExportButtons({ filter }: { filter: CallFilter }) {
  const { problem, attempt } = useAttempt()
  const save = (format: 'csv' | 'jsonl') =>
    attempt(async () => saveBlob(await exportCalls(historyQuery(filter), format), `calls.${format}`))
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
