import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { tokenFromAddress } from './api/token.ts'
import { App } from './app.tsx'
import { gateway } from './state/gateway.ts'
import { speaking } from './state/speaking.ts'
import { applyTheme } from './state/theme.ts'
import './styles/index.css'

applyTheme()
takeOfferedToken()
void gateway.follow()
speaking.follow()
// After waking up or coming back online, do not wait for the next attempt.
addEventListener('online', () => gateway.retryNow())
addEventListener('hashchange', takeOfferedToken)
document.addEventListener(
  'visibilitychange',
  () => document.visibilityState === 'visible' && gateway.retryNow(),
)

function takeOfferedToken(): void {
  const token = tokenFromAddress()
  if (token !== undefined) gateway.offerToken(token)
}

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
