// Node runs this before a program (--require). Old versions have to parse it to print the message, so it is not TypeScript.
'use strict'
const { engines } = require('../package.json')

const EXIT_BAD_CONFIGURATION = 78
const needed = engines.node.replace('>=', '')

/** True if the version is at least the other one. */
function isAtLeast(version, other) {
  return version.localeCompare(other, 'en', { numeric: true }) >= 0
}

if (!isAtLeast(process.versions.node, needed)) {
  console.error(
    `Node ${needed} or newer is needed; this is ${process.versions.node}. \`npm ci\` installs one: run \`npm start\`, or put node_modules/.bin first in PATH.`,
  )
  process.exit(EXIT_BAD_CONFIGURATION)
}

// Set by start.sh for this process alone.
if (/libjemalloc/.test(process.env.LD_PRELOAD)) {
  delete process.env.LD_PRELOAD
  delete process.env.MALLOC_CONF
}

// Login shells set MAIL to a path, and variables win over .env.
if (/^\//.test(process.env.MAIL)) delete process.env.MAIL
try {
  process.loadEnvFile('.env')
} catch (error) {
  if (error.code !== 'ENOENT' && error.code !== 'EACCES') throw error // the file is optional
}
