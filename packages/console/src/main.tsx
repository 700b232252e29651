import './index.css'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { followGateway } from './api/events.ts'
import { queryClient } from './api/queries.ts'
import { takeTokenFromAddress } from './api/token.ts'
import { App } from './app.tsx'
import { followTheme } from './theme.ts'
import { ErrorBoundary } from './ui/error-boundary.tsx'
import { Toasts } from './ui/toast.tsx'

followTheme()
takeTokenFromAddress()
void followGateway()

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <ErrorBoundary>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <Toasts>
            <App />
          </Toasts>
        </QueryClientProvider>
      </CSPProvider>
    </ErrorBoundary>,
  )
