// npm run compile: loads the modules of both programs without running them, so that Node stores their compiled code in NODE_COMPILE_CACHE. That
// saves most of the startup time.
import { getCompileCacheDir } from 'node:module'
import './cli.ts'
import './uploads/inspect-candidates.ts' // loaded by a child process
import './uploads/inspect-questions.ts' // likewise
import './media/join-segments.ts' // likewise
import './media/measure-levels.ts' // likewise
import './reports/to-sheet.ts' // likewise
import './runtime/redis.ts' // loaded with REDIS_URL
import './server.ts'

// Node doesn't report an unusable cache folder, and each start of the image would take twice as long.
if (process.env.NODE_COMPILE_CACHE !== undefined && getCompileCacheDir() === undefined) {
  process.stderr.write(
    `What was compiled can not be kept in ${process.env.NODE_COMPILE_CACHE}: is it a folder that may be written to?\n`,
  )
  process.exitCode = 1
}
