import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { findFreePort } from './free-port.ts'
import type { BounceMailbox } from './postfix.ts'
import { waitUntil } from './wait-until.ts'

/** True if Exim is installed and this process is root, which Exim requires. On Debian, Exim and Postfix can't be installed at the same time. */
export const hasExim = process.getuid?.() === 0 && spawnSync('exim4', ['-C', '/dev/null', '-bV']).status === 0

/** Starts an Exim on loopback that relays mails to the server at `relayPort` and delivers bounce messages to a mailbox. It stops with the test. */
export async function startExim(relayPort: number, { domain, maildir, uid, gid }: BounceMailbox): Promise<{ url: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-exim-'))
  await chmod(folder, 0o755)
  for (const made of ['spool', 'log']) {
    await mkdir(path.join(folder, made))
    await chown(path.join(folder, made), uid, gid)
  }
  const port = await findFreePort()
  const file = path.join(folder, 'exim.conf')
  await writeFile(
    file,
    // Without exim_path, an Exim that was unpacked instead of installed looks for itself in Debian's folder.
    `exim_path = ${execFileSync('sh', ['-c', 'command -v exim4']).toString().trim()}
exim_user = ${uid}
exim_group = ${gid}
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
pid_file_path = ${folder}/spool/pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
primary_hostname = mail.example.com
never_users =
keep_environment =
host_lookup =
rfc1413_query_timeout = 0s
dsn_advertise_hosts = *
tls_advertise_hosts =
acl_smtp_rcpt = take
begin acl
take:
  accept
begin routers
notices:
  driver = accept
  domains = ${domain}
  transport = mailbox
others:
  driver = manualroute
  route_list = * 127.0.0.1 byname
  self = send
  transport = relay
begin transports
mailbox:
  driver = appendfile
  directory = ${maildir}
  maildir_format
  user = ${uid}
  group = ${gid}
relay:
  driver = smtp
  port = ${relayPort}
begin retry
* * F,1h,1m
`,
  )
  const exim = spawn('exim4', ['-C', file, '-bdf', '-q1m'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  exim.stderr.on('data', (text) => {
    said += text
  })
  onTestFinished(async () => {
    if (exim.exitCode === null) {
      exim.kill()
      await once(exim, 'exit')
    }
    await rm(folder, { recursive: true, force: true })
  })
  await waitUntil('Exim to listen', async () => {
    if (exim.exitCode !== null)
      throw new Error(`${said}\n${await readFile(path.join(folder, 'log/mainlog'), 'utf8').catch(() => '')}`)
    const socket = connect(port, '127.0.0.1')
    return await once(socket, 'connect').then(
      () => Boolean(socket.destroy()),
      () => undefined,
    )
  })
  return { url: `smtp://127.0.0.1:${port}` }
}
