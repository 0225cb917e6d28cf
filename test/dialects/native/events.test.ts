import { eventTests } from './event-tests.ts'
import { overSocket } from './support.ts'

eventTests(overSocket)
