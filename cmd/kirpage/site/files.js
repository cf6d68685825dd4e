// The files of a browser for a Go program: what package syscall asks of Node's fs, in
// memory, and below one directory kept in the browser's storage.
//
// What was changed is written some time later, or when a file is synced: all of it in one
// transaction, so that a tab that is killed leaves what was there at one moment.

const constants = { O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 };
const directory = 0o040000, regular = 0o100000;

// fail makes an error that Go knows by its code.
const fail = (code, path = '') => Object.assign(new Error(`${code}: ${path}`), { code });

// resolve makes a path absolute, without dots.
function resolve(base, path) {
  const parts = [];
  for (const part of (path.startsWith('/') ? path : base + '/' + path).split('/')) {
    if (part === '..') parts.pop();
    else if (part && part !== '.') parts.push(part);
  }
  return '/' + parts.join('/');
}

const parent = path => path.slice(0, path.lastIndexOf('/')) || '/';
const last = path => path.slice(path.lastIndexOf('/') + 1);

// A Files is a tree of files. kept is the directory that is stored, and store where; most
// bounds the bytes of all files.
export class Files {
  #numbers = 0;
  #root = this.#node(directory | 0o755);
  #opened = new Map();
  #handle = 3;
  #changed = new Set();
  #timer = null;
  #writing = Promise.resolve();
  #used = 0;
  failed = null; // what is called when the storage refuses
  stored = null; // what is called when it has taken all that was changed, after a refusal
  #refused = false;
  said = ''; // what the program wrote last, or from its end on

  constructor(store, kept, most) {
    Object.assign(this, { store, kept, most, cwd: '/' });
    for (const path of ['/tmp', kept]) this.#make(path);
  }

  #node(mode) {
    const now = Date.now();
    return { mode, ino: ++this.#numbers, links: 1, mtime: now, data: new Uint8Array(0), size: 0, entries: mode & directory && !(mode & regular) ? new Map() : null };
  }

  // load reads what is stored.
  async load() {
    for (const { path, mode, mtime, data } of await this.store.all()) {
      if (data === null) {
        this.#make(path).mtime = mtime;
        continue;
      }
      const node = this.#node(mode);
      Object.assign(node, { mtime, data, size: data.length });
      this.#used += data.length;
      this.#make(parent(path)).entries.set(last(path), node);
    }
  }

  // #hear keeps what the program wrote. Where it ended, the reason comes before long traces.
  #hear(text) {
    const all = this.said + text, end = all.search(/^(panic|fatal error): /m);
    this.said = end < 0 ? all.slice(-1000) : all.slice(end, end + 1000);
  }

  // put writes a file whole.
  put(path, data) {
    const calls = this.#calls, handle = calls.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
    calls.write(handle, data, 0, data.length, null);
    calls.close(handle);
  }

  #make(path) {
    let at = this.#root;
    for (const part of path.split('/').filter(Boolean)) {
      if (!at.entries.has(part)) at.entries.set(part, this.#node(directory | 0o755));
      at = at.entries.get(part);
    }
    return at;
  }

  // #find returns what is at an absolute path, or undefined.
  #find(path) {
    let at = this.#root;
    for (const part of path.split('/').filter(Boolean)) {
      if (!at.entries) throw fail('ENOTDIR', path);
      at = at.entries.get(part);
      if (!at) return undefined;
    }
    return at;
  }

  #at(path) {
    const node = this.#find(path);
    if (!node) throw fail('ENOENT', path);
    return node;
  }

  #folder(path) {
    const node = this.#at(parent(path));
    if (!node.entries) throw fail('ENOTDIR', path);
    return node;
  }

  #of(handle) {
    const o = this.#opened.get(handle);
    if (!o) throw fail('EBADF');
    return o;
  }

  // #change notes that what is at a path is to be stored anew.
  #change(path) {
    if (path !== this.kept && !path.startsWith(this.kept + '/')) return;
    this.#changed.add(path);
    this.#timer ??= setTimeout(() => this.flush().catch(() => {}), 300);
  }

  #changeAll(path, node) {
    this.#change(path);
    if (node.entries) for (const [name, child] of node.entries) this.#changeAll(path + '/' + name, child);
  }

  // flush stores what was changed, after what is being stored.
  flush() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#writing = this.#writing.catch(() => {}).then(async () => {
      const paths = [...this.#changed];
      if (!paths.length) return;
      this.#changed.clear();
      const records = paths.map(path => {
        let node;
        try { node = this.#find(path); } catch { node = undefined; }
        if (!node) return { path, gone: true };
        return { path, mode: node.mode, mtime: node.mtime, data: node.entries ? null : node.data.slice(0, node.size) };
      });
      try {
        await this.store.put(records);
        if (this.#refused) this.stored?.();
        this.#refused = false;
      } catch (e) {
        for (const path of paths) this.#changed.add(path);
        this.#refused = true;
        this.failed?.(e);
        this.#timer ??= setTimeout(() => this.flush().catch(() => {}), 5000); // there may be room by then
        throw fail(e.name === 'QuotaExceededError' ? 'ENOSPC' : 'EIO', e.message);
      }
    });
    return this.#writing;
  }

  #resize(node, size) {
    if (this.#used + size - node.size > this.most) throw fail('ENOSPC');
    if (size > node.data.length) {
      const larger = new Uint8Array(Math.max(size, Math.min(2 * node.data.length, node.data.length + (1 << 24))));
      larger.set(node.data.subarray(0, node.size));
      node.data = larger;
    } else if (size < node.size) {
      node.data.fill(0, size, node.size);
    }
    this.#used += size - node.size;
    node.size = size;
  }

  #unlinked(node) {
    if (--node.links === 0 && ![...this.#opened.values()].some(o => o.node === node)) this.#used -= node.size;
  }

  #stat(node) {
    return {
      dev: 1, ino: node.ino, mode: node.mode, nlink: node.links, uid: 1, gid: 1, rdev: 0, size: node.size, blksize: 4096, blocks: Math.ceil(node.size / 512),
      atimeMs: node.mtime, mtimeMs: node.mtime, ctimeMs: node.mtime, isDirectory: () => !!node.entries,
    };
  }

  #calls = {
    open: (path, flags, mode) => {
      const full = resolve(this.cwd, path);
      let node = this.#find(full);
      if (node && flags & constants.O_CREAT && flags & constants.O_EXCL) throw fail('EEXIST', full);
      if (!node) {
        if (!(flags & constants.O_CREAT)) throw fail('ENOENT', full);
        node = this.#node(regular | (mode & 0o777));
        this.#folder(full).entries.set(last(full), node);
        this.#change(full);
      }
      if (node.entries && flags & 3) throw fail('EISDIR', full);
      if (!node.entries && flags & constants.O_DIRECTORY) throw fail('ENOTDIR', full);
      if (flags & constants.O_TRUNC && !node.entries) {
        this.#resize(node, 0);
        this.#change(full);
      }
      this.#opened.set(++this.#handle, { node, path: full, at: 0, append: !!(flags & constants.O_APPEND), writes: !!(flags & 3) });
      return this.#handle;
    },
    close: handle => {
      const { node } = this.#of(handle);
      this.#opened.delete(handle);
      if (node.links === 0 && ![...this.#opened.values()].some(o => o.node === node)) this.#used -= node.size;
    },
    read: (handle, buffer, offset, length, position) => {
      const o = this.#of(handle);
      if (o.node.entries) throw fail('EISDIR', o.path);
      const from = position ?? o.at, n = Math.max(0, Math.min(length, o.node.size - from));
      buffer.set(o.node.data.subarray(from, from + n), offset);
      if (position === null) o.at += n;
      return n;
    },
    write: (handle, buffer, offset, length, position) => {
      if (handle === 1 || handle === 2) {
        const text = new TextDecoder().decode(buffer.subarray(offset, offset + length));
        this.#hear(text);
        console.log(text.trimEnd());
        return length;
      }
      const o = this.#of(handle);
      if (!o.writes) throw fail('EBADF', o.path);
      const from = o.append ? o.node.size : position ?? o.at;
      if (from + length > o.node.size) this.#resize(o.node, from + length);
      o.node.data.set(buffer.subarray(offset, offset + length), from);
      o.node.mtime = Date.now();
      if (position === null) o.at = from + length;
      this.#change(o.path);
      return length;
    },
    fstat: handle => this.#stat(this.#of(handle).node),
    stat: path => this.#stat(this.#at(resolve(this.cwd, path))),
    lstat: path => this.#stat(this.#at(resolve(this.cwd, path))),
    readdir: path => {
      const node = this.#at(resolve(this.cwd, path));
      if (!node.entries) throw fail('ENOTDIR', path);
      return [...node.entries.keys()];
    },
    mkdir: (path, mode) => {
      const full = resolve(this.cwd, path);
      if (this.#find(full)) throw fail('EEXIST', full);
      this.#folder(full).entries.set(last(full), this.#node(directory | (mode & 0o777)));
      this.#change(full);
    },
    rmdir: path => {
      const full = resolve(this.cwd, path), node = this.#at(full);
      if (!node.entries) throw fail('ENOTDIR', full);
      if (node.entries.size) throw fail('ENOTEMPTY', full);
      this.#folder(full).entries.delete(last(full));
      this.#change(full);
    },
    unlink: path => {
      const full = resolve(this.cwd, path), node = this.#at(full);
      if (node.entries) throw fail('EISDIR', full);
      this.#folder(full).entries.delete(last(full));
      this.#unlinked(node);
      this.#change(full);
    },
    link: (from, to) => {
      const node = this.#at(resolve(this.cwd, from)), full = resolve(this.cwd, to);
      if (node.entries) throw fail('EPERM', from);
      if (this.#find(full)) throw fail('EEXIST', full);
      this.#folder(full).entries.set(last(full), node);
      node.links++;
      this.#change(full);
    },
    rename: (from, to) => {
      const old = resolve(this.cwd, from), full = resolve(this.cwd, to), node = this.#at(old), there = this.#find(full);
      if (there === node) return;
      if (node.entries && (full + '/').startsWith(old + '/')) throw fail('EINVAL', full);
      if (there) {
        if (there.entries && !node.entries) throw fail('EISDIR', full);
        if (!there.entries && node.entries) throw fail('ENOTDIR', full);
        if (there.entries?.size) throw fail('ENOTEMPTY', full);
      }
      this.#changeAll(old, node);
      this.#folder(full).entries.set(last(full), node);
      if (there) this.#unlinked(there);
      this.#folder(old).entries.delete(last(old));
      for (const o of this.#opened.values()) if (o.path === old || o.path.startsWith(old + '/')) o.path = full + o.path.slice(old.length);
      this.#changeAll(full, node);
    },
    truncate: (path, size) => this.#cut(this.#at(resolve(this.cwd, path)), resolve(this.cwd, path), size),
    ftruncate: (handle, size) => this.#cut(this.#of(handle).node, this.#of(handle).path, size),
    chmod: (path, mode) => this.#mode(resolve(this.cwd, path), this.#at(resolve(this.cwd, path)), mode),
    fchmod: (handle, mode) => this.#mode(this.#of(handle).path, this.#of(handle).node, mode),
    utimes: (path, _, mtime) => {
      this.#at(resolve(this.cwd, path)).mtime = 1000 * mtime;
      this.#change(resolve(this.cwd, path));
    },
    chown: path => void this.#at(resolve(this.cwd, path)),
    lchown: path => void this.#at(resolve(this.cwd, path)),
    fchown: handle => void this.#of(handle),
    readlink: path => { throw fail('EINVAL', path); },
    symlink: (_, path) => { throw fail('EPERM', path); },
  };

  #cut(node, path, size) {
    if (node.entries) throw fail('EISDIR', path);
    this.#resize(node, size);
    this.#change(path);
  }

  #mode(path, node, mode) {
    node.mode = node.mode & ~0o777 | mode & 0o777;
    this.#change(path);
  }

  // fs returns what a Go program takes for Node's fs.
  fs() {
    const fs = { constants };
    for (const [name, call] of Object.entries(this.#calls)) {
      fs[name] = (...given) => {
        const answer = given.pop();
        let result;
        try { result = call(...given); } catch (e) { return answer(e.code ? e : fail('EIO', e.message)); }
        answer(null, result);
      };
    }
    fs.fsync = (handle, answer) => {
      try {
        const { path } = this.#of(handle);
        if (!(path + '/').startsWith(this.kept + '/')) return answer(null);
      } catch (e) { return answer(e); }
      this.flush().then(() => answer(null), answer);
    };
    fs.writeSync = (handle, buffer) => this.#calls.write(handle, buffer, 0, buffer.length, null);
    return fs;
  }

  // process and path are the rest that package syscall asks for.
  process() {
    return {
      getuid: () => 1, getgid: () => 1, geteuid: () => 1, getegid: () => 1, getgroups: () => [], pid: 1, ppid: 1, umask: () => 0o022,
      cwd: () => this.cwd,
      chdir: path => {
        const full = resolve(this.cwd, path);
        if (!this.#at(full).entries) throw fail('ENOTDIR', full);
        this.cwd = full;
      },
    };
  }

  path() { return { resolve: (...parts) => resolve(this.cwd, parts.join('/')) }; }
}

// A Store keeps records of files in IndexedDB.
export class Store {
  static open(name) {
    return new Promise((done, refused) => {
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore('files', { keyPath: 'path' });
      request.onsuccess = () => done(Object.assign(new Store(), { db: request.result }));
      request.onerror = () => refused(request.error);
    });
  }

  all() {
    return new Promise((done, refused) => {
      const request = this.db.transaction('files').objectStore('files').getAll();
      request.onsuccess = () => done(request.result);
      request.onerror = () => refused(request.error);
    });
  }

  put(records) {
    return new Promise((done, refused) => {
      const t = this.db.transaction('files', 'readwrite', { durability: 'strict' });
      const files = t.objectStore('files');
      for (const r of records) r.gone ? files.delete(r.path) : files.put(r);
      t.oncomplete = () => done();
      t.onabort = () => refused(t.error ?? new Error('the storage was closed'));
    });
  }
}
