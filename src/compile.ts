// npm run compile: loads the modules of both programs without running them. Node then keeps them compiled in NODE_COMPILE_CACHE, which
// spares each start most of the processor time that it takes to load TypeScript.
import './cli.ts'
import './media/join-segments.ts' // loaded by processes of its own
import './reports/to-sheet.ts' // likewise
import './runtime/redis.ts' // loaded where it is configured
import './server.ts'
