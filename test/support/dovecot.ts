import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { CERTIFICATE } from './certificate.ts'
import { findFreePort } from './free-port.ts'

const run = promisify(execFile)

/** True if Dovecot is installed and this process is root, which Dovecot requires. */
export const hasDovecot = process.getuid?.() === 0 && spawnSync('dovecot', ['--version']).status === 0
if (!hasDovecot) process.stderr.write('Dovecot is not installed, or this is not root: mailboxes are not tested.\n')

export const MAILBOX_PASSWORD = 'p/ss@word#of%mailbox'

export type Dovecot = {
  /** URL of a folder: `imaps` with TLS from the start, `imap` with STARTTLS. */
  url: (folder?: string, scheme?: 'imap' | 'imaps', password?: string) => string
  /** The mailbox's folder on disk, where mail servers deliver into INBOX. */
  maildir: string
  /** Id of the user who owns the mailbox. */
  uid: number
  gid: number
  deliver: (folder: string, text: string) => Promise<void>
  /** Counts all mails and unread mails of a folder. */
  count: (folder: string) => Promise<{ all: number; unread: number }>
  /** Makes a mail with these words unreadable for its server. */
  breakMail: (words: string) => Promise<void>
  /** Marks the mails of a folder as unread. */
  forget: (folder: string) => Promise<void>
  stop: () => Promise<void>
  start: () => Promise<void>
}

/** Starts a Dovecot on loopback with one mailbox in Maildir format. It stops with the test. */
export async function startDovecot(): Promise<Dovecot> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-dovecot-'))
  await chmod(folder, 0o755)
  const maildir = path.join(folder, 'mail')
  const [port, tlsPort] = [await findFreePort(), await findFreePort()]
  const file = path.join(folder, 'dovecot.conf')
  const [uid, gid] = ['-u', '-g'].map((what) => Number(execFileSync('id', [what, 'mail']))) as [number, number]
  for (const name of ['', 'cur', 'new', 'tmp']) {
    await mkdir(path.join(maildir, name))
    await chown(path.join(maildir, name), uid, gid)
  }
  for (const [name, text] of Object.entries(CERTIFICATE)) await writeFile(path.join(folder, `${name}.pem`), text)
  await writeFile(
    path.join(folder, 'users'),
    `bounces:{PLAIN}${MAILBOX_PASSWORD}:${uid}:${gid}::${folder}::userdb_mail=maildir:${maildir}\n`,
  )
  await writeFile(
    file,
    `protocols = imap
listen = 127.0.0.1
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
instance_name = ${path.basename(folder)}
ssl = required
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:${maildir}
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = ${tlsPort}
    ssl = yes
  }
}
passdb {
  driver = passwd-file
  args = scheme=PLAIN ${folder}/users
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${folder} allow_all_users=yes
}
`,
  )
  // Background processes keep inherited file descriptors open.
  const start = async () => {
    const [code] = await once(spawn('dovecot', ['-c', file], { stdio: 'ignore' }), 'exit')
    if (code !== 0)
      throw new Error(`Dovecot has not started: ${await readFile(path.join(folder, 'log'), 'utf8').catch(() => code)}`)
  }
  const stop = async () => {
    await run('dovecot', ['-c', file, 'stop'])
  }
  const ask = async (...args: string[]) => (await run('doveadm', ['-c', file, ...args])).stdout
  await start()
  let isUp = true
  onTestFinished(async () => {
    if (isUp) await stop()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    ...{ maildir, uid, gid },
    url: (of = 'INBOX', scheme = 'imaps', password = MAILBOX_PASSWORD) =>
      `${scheme}://bounces:${encodeURIComponent(password)}@127.0.0.1:${scheme === 'imaps' ? tlsPort : port}/${encodeURIComponent(of)}?tls.rejectUnauthorized=false`,
    async deliver(to, text) {
      const mail = path.join(folder, 'delivered')
      await writeFile(mail, text)
      await chmod(mail, 0o644)
      await ask('mailbox', 'create', '-u', 'bounces', to).catch(() => {}) // the folder already exists
      await run('sh', ['-c', 'exec doveadm -c "$0" save -u bounces -m "$1" < "$2"', file, to, mail])
    },
    async count(of) {
      const said = await ask('mailbox', 'status', '-u', 'bounces', 'messages unseen', of)
      const [all, unread] = ['messages', 'unseen'].map((what) => Number(new RegExp(`${what}=(\\d+)`).exec(said)?.[1]))
      return { all: all!, unread: unread! }
    },
    async breakMail(words) {
      const files = await readdir(maildir, { recursive: true, withFileTypes: true })
      for (const file of files.filter((one) => one.isFile())) {
        const name = path.join(file.parentPath, file.name)
        if (/^(cur|new)$/.test(path.basename(file.parentPath)) && (await readFile(name, 'utf8')).includes(words)) {
          await chown(name, 0, 0)
          await chmod(name, 0)
        }
      }
    },
    async forget(of) {
      await ask('flags', 'remove', '-u', 'bounces', '\\Seen', 'mailbox', of, 'all')
    },
    async stop() {
      await stop()
      isUp = false
    },
    async start() {
      await start()
      isUp = true
    },
  }
}
