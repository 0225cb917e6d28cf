import { eventTests } from './event-tests.ts'
import { overWebSocket } from './support.ts'

eventTests(overWebSocket)
