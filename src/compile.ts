// npm run compile: loads the modules of both programs without running them. Node then keeps them compiled in NODE_COMPILE_CACHE, which
// spares each start most of the processor time that it takes to load TypeScript.
import { getCompileCacheDir } from 'node:module'
import './cli.ts'
import './uploads/candidate-list.ts' // loaded by processes of its own
import './kinds/formats/read-file.ts' // likewise
import './media/join-segments.ts' // likewise
import './reports/to-sheet.ts' // likewise
import './runtime/redis.ts' // loaded where it is configured
import './server.ts'

// Node goes on without a word where it can't keep what it compiles, and each start of the image would take twice as long.
if (process.env.NODE_COMPILE_CACHE !== undefined && getCompileCacheDir() === undefined) {
  process.stderr.write(
    `What was compiled can not be kept in ${process.env.NODE_COMPILE_CACHE}: is it a folder that may be written to?\n`,
  )
  process.exitCode = 1
}
