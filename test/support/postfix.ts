import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { findFreePort } from './free-port.ts'

const run = promisify(execFile)

/** True if Postfix is installed and this process is root, which Postfix requires. */
export const hasPostfix = process.getuid?.() === 0 && isInstalled()

function isInstalled(): boolean {
  try {
    execFileSync('postconf', ['mail_version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Returns Postfix's action for a request of its policy protocol. */
export type Decide = (request: string) => Promise<string>

/** Mailbox (Maildir) for all bounce messages to the domain. */
export type BounceMailbox = { domain: string; maildir: string; uid: number; gid: number }

/**
 * Starts a Postfix on loopback that relays accepted mails to the server at `relayPort`. It asks `decide` about each recipient and each complete
 * mail. It stops with the test.
 */
export async function startPostfix(relayPort: number, decide: Decide, bounces?: BounceMailbox): Promise<{ url: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-postfix-'))
  await chmod(folder, 0o755)
  const [config, queue, data] = ['config', 'queue', 'data'].map((name) => path.join(folder, name)) as [string, string, string]
  for (const made of [config, queue, data]) await mkdir(made)
  await chown(data, Number(execFileSync('id', ['-u', 'postfix'])), 0)
  const port = await findFreePort()
  const policyPort = await startPolicy(decide)
  const policy = `check_policy_service inet:127.0.0.1:${policyPort}`
  await writeFile(
    path.join(config, 'main.cf'),
    `compatibility_level = 3.6
queue_directory = ${queue}
data_directory = ${data}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mail.example.com
mydestination =
mynetworks = 127.0.0.0/8
relayhost = [127.0.0.1]:${relayPort}
maillog_file = ${folder}/log
maillog_file_prefixes = ${folder}
smtpd_policy_service_timeout = 300s
smtpd_client_restrictions = ${policy}
smtpd_recipient_restrictions = permit_mynetworks, reject
smtpd_end_of_data_restrictions = ${policy}
${bounces ? bounceSettings(bounces) : ''}`,
  )
  const internal = 'cleanup unix n - n - 0 cleanup\nqmgr unix n - n 300 1 qmgr\nrewrite unix - - n - - trivial-rewrite'
  const others = ['bounce', 'defer', 'trace'].map((name) => `${name} unix - - n - 0 bounce`)
  const transports = [...['smtp', 'relay'].map((name) => `${name} unix - - n - - smtp`), 'virtual unix - n n - - virtual']
  const rest = ['error', 'retry'].map((name) => `${name} unix - - n - - error`)
  const lines = [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    internal,
    ...others,
    ...transports,
    ...rest,
    'anvil unix - - n - 1 anvil',
    'scache unix - - n - 1 scache',
    'proxymap unix - - n - - proxymap',
    'tlsmgr unix - - n 1000? 1 tlsmgr',
    'postlog unix-dgram n - n - 1 postlogd',
  ]
  await writeFile(path.join(config, 'master.cf'), `${lines.join('\n')}\n`)
  await run('postfix', ['-c', config, 'start']).catch(async (error) => {
    throw new Error(`${error.message}\n${await readFile(path.join(folder, 'log'), 'utf8').catch(() => '')}`)
  })
  onTestFinished(async () => {
    await run('postfix', ['-c', config, 'stop'])
    await rm(folder, { recursive: true, force: true })
  })
  return { url: `smtp://127.0.0.1:${port}` }
}

const bounceSettings = ({ domain, maildir, uid, gid }: BounceMailbox): string => `virtual_mailbox_domains = ${domain}
virtual_mailbox_base = /
virtual_mailbox_maps = static:${maildir.slice(1)}/
virtual_minimum_uid = 1
virtual_uid_maps = static:${uid}
virtual_gid_maps = static:${gid}
`

/** Serves Postfix's policy protocol: the lines of a request, an empty line, and the response. */
async function startPolicy(decide: Decide): Promise<number> {
  const server = createServer((client) => {
    let text = ''
    client.on('error', () => {})
    client.setEncoding('utf8').on('data', async (chunk: string) => {
      text += chunk
      while (text.includes('\n\n')) {
        const request = text.slice(0, text.indexOf('\n\n'))
        text = text.slice(request.length + 2)
        const action = await decide(request)
        client.write(`action=${action}\n\n`)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}
