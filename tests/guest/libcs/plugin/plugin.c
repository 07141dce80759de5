// libplugin.so: a library to load.
int plugin(int x);
int plugin(int x) { return x + 1; }
