// Starts the page. A browser loads neither modules nor WebAssembly for a page that is opened as a
// file, but scripts. So all files that the page needs are in one script, too, which is then loaded
// in place of the module boot.js and calls this with them, as base64.
globalThis.kirFiles = files => {
  const data = name => Uint8Array.from(atob(files[name]), c => c.charCodeAt(0));
  const read = name => new TextDecoder().decode(data(name));
  const addresses = new Map();
  // address returns where a module is: a blob, in which the modules that it imports have theirs,
  // so that no two may import each other.
  const address = name => {
    if (!addresses.has(name)) {
      const text = read(name).replace(/^(import .*)'\.\/(.*)';$/gm, (_, begin, other) => `${begin}'${address(name.replace(/[^/]*$/, '') + other)}';`);
      addresses.set(name, URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
    }
    return addresses.get(name);
  };
  // joined makes one script of modules, for a worker, which may not import blobs.
  const joined = (...names) => names.map(read).join('\n').replace(/^import .*;$/gm, '').replace(/^export /gm, '');
  globalThis.kirLocal = { address, joined, program: data('kir.wasm.gz') };
  import(address('boot.js')).catch(failed);
};
const failed = e => {
  document.getElementById('boot-status').textContent = `This browser does not run kir from a file: ${e.message ?? 'files-as-script.js cannot be read'}. ` +
    'Put this directory on any host of files, or run “python3 -m http.server” in it and open http://localhost:8000.';
};
document.head.append(Object.assign(document.createElement('script'), location.protocol === 'file:' ? { src: 'files-as-script.js', onerror: failed } : { type: 'module', src: 'boot.js' }));
