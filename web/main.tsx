import { render } from 'preact'
import { App } from './app.tsx'
import { keepConnected } from './state/connection.ts'
import { applyTheme } from './state/theme.ts'
import { followLinks } from './state/router.ts'
import { keepUpToDate } from './state/update.ts'

applyTheme()
followLinks()
keepConnected()
keepUpToDate()
render(<App />, document.getElementById('app')!)
